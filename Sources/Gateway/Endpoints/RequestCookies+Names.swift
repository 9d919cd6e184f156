internal import HTTPTypes
internal import WebFormats

extension RequestCookies {
  /// The cookies among a request's header fields.
  init(_ fields: HTTPFields) { self.init(fields[values: .cookie]) }

  /// The identifiers that follow a prefix in the names of cookies, each once: 16 lower-case hexadecimal digits, as in
  /// the names of our own. Anything else is forged, and must not reach our `Set-Cookie`.
  func identifiers(after prefix: String) -> [String] {
    var seen: Set<String> = []
    return names(after: prefix).filter { name in
      name.utf8.count == 16 && name.utf8.allSatisfy(Hex.isLowercaseDigit) && seen.insert(name).inserted
    }
  }
}
