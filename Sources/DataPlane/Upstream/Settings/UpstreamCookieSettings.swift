internal import WebFormats

/// The session cookies of an upstream, and whether its responses are made private: the next account of a browser gets
/// nothing of the one before.
package struct UpstreamCookieSettings: Sendable, Equatable {
  /// The application's own session cookies. Default: none.
  package var cookies: [EndCookie] = []
  /// Whether its responses are made private though it has no session cookies. Default: false.
  package var hasPrivateCache = false

  /// The defaults: no cookies, and responses left as they are.
  package init() {}

  /// Whether responses that may be used again without validation are made private.
  package var makesPrivate: Bool { hasPrivateCache || !cookies.isEmpty }

  /// Whether there is nothing to do.
  package var isEmpty: Bool { !makesPrivate }
}

/// A session cookie of an application (`end_cookies`): `NAME`, or `NAME; Path=/x; Domain=d`.
package struct EndCookie: Sendable, Hashable, CustomStringConvertible {
  /// Its name, byte for byte.
  package var name: String
  /// The `Path` with which the application sets it. Default: `/`.
  package var path = "/"
  /// The `Domain` with which the application sets it. Default: nil: none.
  package var domain: String?

  /// From the configuration's text; nil if that is malformed.
  package init?(_ text: String) {
    var parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(Self.trimmed)
    name = String(decoding: parts.removeFirst(), as: UTF8.self)
    guard !name.isEmpty, name.utf8.count <= 128, name.utf8.allSatisfy(\.isToken) else { return nil }
    for part in parts {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let key = Self.trimmed(part[..<equals]).map(\.asciiLowercased)
      let value = Self.trimmed(part[(equals + 1)...])
      guard !value.isEmpty, value.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }) else {
        return nil
      }
      if key.elementsEqual("path".utf8), value.first == UInt8(ascii: "/") {
        path = String(decoding: value, as: UTF8.self)
      } else if key.elementsEqual("domain".utf8) {
        domain = String(decoding: value, as: UTF8.self)
      } else {
        return nil
      }
    }
  }

  /// As the configuration writes it.
  package var description: String {
    name + (path == "/" ? "" : "; Path=\(path)") + (domain.map { "; Domain=\($0)" } ?? "")
  }

  /// The `Set-Cookie` value that deletes it.
  package func deletion(isSecure: Bool) -> String {
    // Browsers take these prefixes with `Secure` only (RFC 6265bis, 4.1.3).
    let hasPrefix = ["__secure-", "__host-"].contains { name.utf8.map(\.asciiLowercased).starts(with: $0.utf8) }
    return "\(name)=; Path=\(path)" + (domain.map { "; Domain=\($0)" } ?? "")
      + (isSecure || hasPrefix ? "; Secure" : "") + "; HttpOnly; Max-Age=0"
  }

  private static func trimmed(_ text: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(text)
    let start = bytes.firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.count
    let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 } ?? start - 1
    return start <= end ? Array(bytes[start...end]) : []
  }
}
