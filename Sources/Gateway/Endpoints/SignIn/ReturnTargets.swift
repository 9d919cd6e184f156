internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import WebFormats

/// Reads `return_to` of requests.
struct ReturnTargets: Sendable {
  private let origin: OriginSettings

  init(_ origin: OriginSettings) { self.origin = origin }

  /// The target of a `return_to` value; the front page without one.
  func target(_ value: [UInt8]?) -> ReturnTarget {
    guard let value else { return .frontPage }
    return ReturnTarget(parsing: value, origin: origin.origin, prefix: origin.prefix)
  }

  /// The target of `return_to` in a request's query.
  func wanted(_ request: ControlRequest) -> ReturnTarget {
    let fields = try? request.query()
    return target(fields.flatMap { try? $0.value(of: "return_to") })
  }
}

extension ControlRequest {
  /// Whether the query asks for a sign-in with Apple, whatever session there is.
  var asksForNewSignIn: Bool {
    guard let fields = try? query() else { return false }
    return !fields.values(of: PageRenderer.newSignIn).isEmpty
  }

  /// A path to return to, with the fragment that the script of the sign-in page has added to this request: unchanged if
  /// the path has one already, or without a valid one.
  func addingFragment(to path: String) -> String {
    guard !path.utf8.contains(UInt8(ascii: "#")), let fields = try? query(),
      let fragment = try? fields.value(of: PageRenderer.fragment), fragment.first == UInt8(ascii: "#"),
      path.utf8.count + fragment.count <= ReturnTarget.maximumLength,
      fragment.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
    else { return path }
    return path + String(decoding: fragment, as: UTF8.self)
  }

  /// The fields of the query.
  func query() throws(FormFieldsError) -> FormFields {
    let path = Array((head.path ?? "").utf8)
    guard let mark = path.firstIndex(of: UInt8(ascii: "?")) else { return FormFields(fields: []) }
    return try FormFields(parsing: path[(mark + 1)...])
  }
}
