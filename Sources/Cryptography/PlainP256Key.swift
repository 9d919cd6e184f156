internal import COpenSSL
internal import WebFormats

/// The numbers of a P-256 key in a file of PKCS #8, if it has one of the two forms in which such files come.
///
/// OpenSSL reads a key file by asking all its decoders, for all kinds of keys: that is a fifth of all instructions of a
/// start. Almost every file is `BEGIN PRIVATE KEY`, with a key of P-256 as Apple or as OpenSSL writes it, and these two
/// differ in nothing but their numbers. Any other text is for OpenSSL, valid or not.
struct PlainP256Key {
  /// The private number, 32 bytes.
  private(set) var scalar: [UInt8]
  /// The public point, uncompressed (SEC 1, 2.3.3). OpenSSL checks that it is on the curve.
  let point: [UInt8]

  private static let begin = Array("-----BEGIN PRIVATE KEY-----\n".utf8)
  private static let end = Array("-----END PRIVATE KEY-----".utf8)

  /// Nil for any other text.
  init?(pem text: [UInt8]) {
    guard text.starts(with: Self.begin) else { return nil }
    let rest = text.dropFirst(Self.begin.count)
    guard let dash = rest.firstIndex(of: UInt8(ascii: "-")), rest[dash...].starts(with: Self.end) else { return nil }
    var digits = rest[..<dash].filter { $0 != UInt8(ascii: "\n") }
    var der: [UInt8] = []
    // An array that grows leaves a copy behind.
    der.reserveCapacity(digits.count)
    defer {
      OPENSSL_cleanse(&digits, digits.count)
      OPENSSL_cleanse(&der, der.count)
    }
    guard Base64.decode(digits.span.bytes, into: { der.append($0) }) else { return nil }
    self.init(der: der)
  }

  /// Overwrites the private number.
  mutating func erase() { OPENSSL_cleanse(&scalar, scalar.count) }

  private init?(der: [UInt8]) {
    for form in Self.forms where der.count == form.before.count + 32 + form.between.count + 65 {
      let middle = form.before.count + 32
      let scalar = Array(der[form.before.count..<middle])
      guard der.starts(with: form.before), der[middle...].starts(with: form.between), Self.isInRange(scalar) else {
        continue
      }
      self.scalar = scalar
      point = Array(der.suffix(65))
      return
    }
    return nil
  }

  /// Whether a number is from 1 to the order of the curve less 1.
  private static func isInRange(_ scalar: [UInt8]) -> Bool {
    scalar.contains { $0 != 0 } && scalar.lexicographicallyPrecedes(order)
  }

  /// The bytes around the two numbers: a PrivateKeyInfo (RFC 5208, 5) for id-ecPublicKey and prime256v1 (RFC 5480,
  /// 2.1.1), with an ECPrivateKey (RFC 5915, 3) of version 1 whose curve is left out, or named again.
  private static let forms: [(before: [UInt8], between: [UInt8])] = [
    (
      before: [0x30, 0x81, 0x87, 0x02, 0x01, 0x00] + algorithm
        + [0x04, 0x6D, 0x30, 0x6B, 0x02, 0x01, 0x01, 0x04, 0x20],
      between: [0xA1, 0x44, 0x03, 0x42, 0x00]
    ),
    (
      before: [0x30, 0x81, 0x93, 0x02, 0x01, 0x00] + algorithm
        + [0x04, 0x79, 0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20],
      between: [0xA0, 0x0A] + curve + [0xA1, 0x44, 0x03, 0x42, 0x00]
    ),
  ]

  private static let algorithm = [0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + curve
  private static let curve: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

  /// SEC 2, 2.4.2.
  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]
}
