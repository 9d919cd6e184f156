import HTTPWire
import Secrets

@testable import Sessions

extension Invariant {
  /// The gateway finds its own cookies where splitting the field at its semicolons finds them, and a value that
  /// verifies is, byte for byte, one that the gateway signed.
  static let cookie = Invariant("cookie") { bytes in
    try requireSigned(bytes)
    let prefix = Array("GET / HTTP/1.1\r\nHost: a\r\nCookie: ".utf8)
    let message = prefix + bytes + Array("\r\n\r\n".utf8)
    let span = message.span.bytes
    var head = RequestHead()
    guard RequestHeadParser(limits: .forInvariants).parse(span, into: &head) == .complete else { return }
    GatewayCookies(name: KeptNames.cookie).find(span, in: &head)
    var expected: [[[UInt8]]] = []
    for line in head.fields.lines where KeptNames.lowercased(span.array(line.name)) == "cookie" {
      expected += KeptNames.gatewayCookies(in: span.array(line.value)).map { [$0.name, $0.value] }
    }
    let found = head.gatewayCookies.map { place in
      [KeptNames.trimmed(span.array(place.name)), KeptNames.trimmed(span.array(place.value))]
    }
    try require(found == expected, "found \(found.map { $0.map(shown) }), expected \(expected.map { $0.map(shown) })")
    for place in head.gatewayCookies { try requireSigned(span.array(place.value)) }
  }

  private static func requireSigned(_ value: [UInt8]) throws(Violation) {
    for scope in [CookieScope.publicURL, .host("wiki.example.com")] {
      guard let verified = FixedKeys.both.verifyCookie(value, on: scope) else { continue }
      let signer = verified.isSignedByCurrentKey ? FixedKeys.first : FixedKeys.second
      let signed = signer.signedCookie(for: verified.identifier, on: scope)
      try require(Array(signed.utf8) == value, "another spelling of \(signed) verifies")
    }
  }
}

/// Keys that are the same in every run, so that a seed can hold a cookie that verifies.
enum FixedKeys {
  private static let secrets = [UInt8(0x41), 0x42].map { SessionSecret([UInt8](repeating: $0, count: 48)) }

  static let both = keyring(secrets)
  static let first = keyring([secrets[0]])
  static let second = keyring([secrets[1]])

  private static func keyring(_ secrets: [SessionSecret]) -> SessionKeyring {
    do {
      return try SessionKeyring(secrets: secrets)
    } catch {
      preconditionFailure("48 bytes are a secret: \(error)")
    }
  }
}
