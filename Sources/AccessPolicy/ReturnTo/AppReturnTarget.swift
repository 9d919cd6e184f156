internal import WebFormats

/// The address in a native app to which a browser sign-in returns. Its scheme must be listed by the operator.
package struct AppReturnTarget: Sendable, Equatable {
  /// As the app wrote it: characters of RFC 3986, without a fragment.
  package let address: String

  /// The longest accepted address, in bytes: 1,024.
  package static let maximumLength = 1024

  /// Parses a `return_to`, once percent-decoded.
  ///
  /// - Parameters:
  ///   - bytes: what the client sent.
  ///   - schemes: the listed schemes, in lower case; upper and lower case are the same in an address (RFC 3986, 3.1).
  /// - Returns: nil unless the scheme is listed and the rest is valid in a `Location` unchanged.
  package init?(parsing bytes: [UInt8], schemes: [String]) {
    guard Self.names(bytes, oneOf: schemes), bytes.count <= Self.maximumLength,
      bytes.allSatisfy({ (0x21...0x7E).contains($0) && !Self.refused.contains($0) })
    else { return nil }
    address = String(decoding: bytes, as: UTF8.self)
  }

  /// Restores an address that was parsed before and stored tamper-proof.
  package init?(restoring bytes: [UInt8]) {
    let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }.map(\.asciiLowercased)
    self.init(parsing: bytes, schemes: [String(decoding: scheme, as: UTF8.self)])
  }

  /// Whether an address begins with a listed scheme, whatever else is wrong with it.
  package static func names(_ bytes: [UInt8], oneOf schemes: [String]) -> Bool {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let scheme = bytes[..<colon].map(\.asciiLowercased)
    return schemes.contains { $0.utf8.elementsEqual(scheme) }
  }

  /// Characters that an address must not contain unencoded, and `#`, because parameters are appended to the address.
  private static let refused = Array("\"#<>\\^`{|}".utf8)

  /// The address with one more query item.
  ///
  /// - Parameters:
  ///   - name: unreserved characters.
  ///   - value: unreserved characters.
  package func adding(_ name: StaticString, _ value: String) -> String {
    "\(address)\(address.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\(name)=\(value)"
  }
}
