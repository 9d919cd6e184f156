import Crypto
import Cryptography
import Testing
import WebFormats

@Suite("Hashes, codes and derived keys")
struct HashTests {
  /// Lengths around the blocks of SHA-1 and SHA-256.
  static let lengths = [0, 1, 16, 31, 32, 55, 56, 63, 64, 65, 127, 128, 1000]

  private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) } }

  @Test("The hashes of \"abc\" are those of FIPS 180-4")
  func standardVectors() {
    #expect(
      Hex.text(Cryptography.SHA256.hash("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Hex.text(SHA1.hash("abc".utf8)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
  }

  @Test("Hashes and codes are those of another library, at every length", arguments: lengths)
  func againstSwiftCrypto(count: Int) {
    let bytes = Self.bytes(count)
    #expect(Cryptography.SHA256.hash(bytes) == Array(Crypto.SHA256.hash(data: bytes)))
    #expect(SHA1.hash(bytes) == Array(Insecure.SHA1.hash(data: bytes)))
    // The length of the key varies too, also to nothing.
    let code = HMAC<Crypto.SHA256>.authenticationCode(for: bytes, using: Crypto.SymmetricKey(data: bytes))
    #expect(HMACSHA256.code(for: bytes, using: Cryptography.SymmetricKey(bytes)) == Array(code))
  }

  @Test("The third case of RFC 5869, without a salt and without information, gives its key")
  func standardDerivation() {
    let key = HKDFSHA256.deriveKey(
      from: Cryptography.SymmetricKey([UInt8](repeating: 0x0b, count: 22)), info: [], byteCount: 42)
    let expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    #expect(Hex.text(Self.content(of: key, count: 42)) == expected)
  }

  @Test("A derived key is that of another library", arguments: [4, 32, 100])
  func derivationAgainstSwiftCrypto(count: Int) {
    let (secret, info) = (Self.bytes(40), Array("cordon v1 session cookie".utf8))
    let expected = HKDF<Crypto.SHA256>.deriveKey(
      inputKeyMaterial: Crypto.SymmetricKey(data: secret), info: info, outputByteCount: count)
    let key = HKDFSHA256.deriveKey(from: Cryptography.SymmetricKey(secret), info: info, byteCount: count)
    #expect(Self.content(of: key, count: count) == expected.withUnsafeBytes { Array($0) })
  }

  @Test("A key does not show its bytes, however it is printed")
  func keysAreNotPrinted() {
    let key = Cryptography.SymmetricKey(Array("a very secret key".utf8))
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains("97")) }
    #expect("\(key)" == "[secret]")
  }

  /// A key's bytes.
  private static func content(of key: Cryptography.SymmetricKey, count: Int) -> [UInt8] {
    let bytes = key.exposedBytes
    #expect(bytes.count == count)
    return bytes
  }
}
