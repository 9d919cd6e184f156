internal import WebFormats

/// The body of a request: a JSON object with the names of a command's options. An empty body counts as an empty object.
struct AdminRequestBody {
  /// The longest body, in bytes.
  static let limit = 8_192
  private let members: [String: StrictJSON]

  /// - Throws: 400 unless it is a JSON object with only these members.
  init(_ bytes: [UInt8], members names: [String]) throws(AdminError) {
    guard !bytes.isEmpty else {
      members = [:]
      return
    }
    do throws(StrictJSONError) {
      members = try StrictJSON.object(bytes, maximumBytes: Self.limit, maximumDepth: 4)
    } catch {
      throw .badBody("\(error.reason): send a JSON object, as in {\"group\": \"staff\"}")
    }
    for name in members.keys.sorted() where !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      let known = names.isEmpty ? "send none" : "there are \(names.joined(separator: ", "))"
      let shown = name.utf8.count <= 64 ? "\"\(name)\"" : "of this name"
      throw .badBody("there is no member \(shown) here: \(known)")
    }
  }

  func text(_ name: String) throws(AdminError) -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.text else { throw .badBody("\(name) is not a string: write it in quotation marks") }
    return text
  }

  func required(_ name: String) throws(AdminError) -> String {
    guard let text = try text(name) else { throw .badBody("\(name) is missing: add it to the JSON object") }
    return text
  }

  func integer(_ name: String) throws(AdminError) -> Int? {
    guard let value = members[name] else { return nil }
    guard case .integer(let number) = value, let result = Int(exactly: number) else {
      throw .badBody("\(name) is not a whole number: write it without quotation marks")
    }
    return result
  }
}
