import Crypto
import Foundation
import Testing

@testable import Cryptography

// Each text is read both by its form and by OpenSSL's decoders: whatever the form reads, the decoders read as the same
// key, and whatever they refuse is refused.

@Suite("Keys of P-256 that are read by their form")
struct PlainP256KeyTests {
  private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

  /// PKCS #8, as OpenSSL writes it, or with the curve named once more, as Apple does.
  private static func der(_ key: P256.Signing.PrivateKey, namesCurveTwice: Bool) -> [UInt8] {
    func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
      [tag] + (content.count < 128 ? [UInt8(content.count)] : [0x81, UInt8(content.count)]) + content
    }
    let algorithm = element(0x30, [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + curve)
    let pair = element(
      0x30,
      [0x02, 0x01, 0x01] + element(0x04, Array(key.rawRepresentation))
        + (namesCurveTwice ? element(0xA0, curve) : [])
        + element(0xA1, element(0x03, [0x00] + Array(key.publicKey.x963Representation))))
    return element(0x30, [0x02, 0x01, 0x00] + algorithm + element(0x04, pair))
  }

  private static func pem(_ der: [UInt8], newline: String = "\n") -> String {
    let digits = Array(Data(der).base64EncodedString())
    let lines = stride(from: 0, to: digits.count, by: 64).map { String(digits[$0..<min($0 + 64, digits.count)]) }
    return (["-----BEGIN PRIVATE KEY-----"] + lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: newline)
  }

  /// Compares both ways to read a text.
  private func compare(_ text: String, isPlain: Bool? = nil) {
    let bytes = Array(text.utf8)
    let plain = PlainP256Key(pem: bytes)
    if let isPlain { #expect((plain != nil) == isPlain, "\(text)") }
    let ours = ES256PrivateKey(pem: bytes)
    let theirs = AsymmetricKey(decoding: bytes).flatMap { $0.isP256 ? $0 : nil }
    #expect(ours?.pem == theirs?.privateKeyPEM, "\(text)")
    #expect(ours?.publicKey.pem == theirs?.publicKeyPEM, "\(text)")
  }

  @Test("Both forms are read, with the same numbers as by OpenSSL, and sign", arguments: [false, true])
  func forms(namesCurveTwice: Bool) throws {
    for _ in 0..<50 {
      let key = P256.Signing.PrivateKey()
      let text = Self.pem(Self.der(key, namesCurveTwice: namesCurveTwice))
      compare(text, isPlain: true)
      let ours = try #require(ES256PrivateKey(pem: text.utf8))
      #expect(ours.publicKey.pem == key.publicKey.pemRepresentation + "\n")
      let signature = try #require(ours.signature(of: [1, 2, 3]))
      #expect(key.publicKey.isValidSignature(try .init(rawRepresentation: signature), for: Data([1, 2, 3])))
    }
  }

  @Test("The private number is overwritten when it is no longer needed")
  func erasure() throws {
    let text = Self.pem(Self.der(P256.Signing.PrivateKey(), namesCurveTwice: false))
    var plain = try #require(PlainP256Key(pem: Array(text.utf8)))
    #expect(plain.scalar.contains { $0 != 0 })
    plain.erase()
    #expect(plain.scalar == [UInt8](repeating: 0, count: 32))
  }

  @Test("A key that is written is read by its form")
  func written() { compare(ES256PrivateKey().pem, isPlain: true) }

  @Test("A key with one changed byte is read by either way as the same key, or by neither", arguments: [false, true])
  func changed(namesCurveTwice: Bool) {
    let der = Self.der(P256.Signing.PrivateKey(), namesCurveTwice: namesCurveTwice)
    for place in der.indices {
      for change: UInt8 in [0x01, 0x80, 0xFF] {
        var bytes = der
        bytes[place] ^= change
        compare(Self.pem(bytes))
      }
    }
    for count in 0..<der.count { compare(Self.pem(Array(der.prefix(count)))) }
    compare(Self.pem(der + [0]), isPlain: false)
  }

  @Test("Private numbers out of range are left to OpenSSL")
  func range() {
    let der = Self.der(P256.Signing.PrivateKey(), namesCurveTwice: false)
    let order = [UInt8](Data(base64Encoded: "/////wAAAAD//////////7zm+q2nF56E87nKwvxjJVE=") ?? Data())
    #expect(order.count == 32)
    for scalar in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32)] {
      compare(Self.pem(Array(der.prefix(36)) + scalar + der.suffix(70)), isPlain: false)
    }
  }

  @Test("Other texts around a key, other line ends, other keys and no keys are left to OpenSSL")
  func others() throws {
    let key = P256.Signing.PrivateKey()
    let der = Self.der(key, namesCurveTwice: false)
    let text = Self.pem(der)
    compare("The key of the team:\n" + text, isPlain: false)
    compare(Self.pem(der, newline: "\r\n"), isPlain: false)
    compare(text + text, isPlain: true)
    compare(text + "and more\n", isPlain: true)
    compare(String(text.dropLast()), isPlain: true)
    compare(text.replacing("\n", with: " \n"))
    compare(text.replacing("\n", with: ""))
    compare(String(text.dropLast(4)))
    for other in [
      P384.Signing.PrivateKey().pemRepresentation, key.publicKey.pemRepresentation, "",
      "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
    ] {
      compare(other, isPlain: false)
    }
  }
}
