import Crypto
import Cryptography
import Secrets
import Testing

@Suite("AES-256-GCM")
struct AuthenticatedEncryptionTests {
  private let key = SystemRandom.bytes(32)
  private let nonce = SystemRandom.bytes(12)
  private let associated = Array("purpose".utf8)

  private func seal(_ bytes: [UInt8]) -> [UInt8]? {
    AES256GCM.seal(bytes, using: .init(key), nonce: nonce, authenticating: associated)
  }

  private func open(_ sealed: [UInt8]) -> [UInt8]? {
    AES256GCM.open(sealed, using: .init(key), nonce: nonce, authenticating: associated)
  }

  @Test("Sealing gives the bytes that another library gives, and they open again", arguments: [0, 1, 15, 16, 17, 4000])
  func againstSwiftCrypto(count: Int) throws {
    let plain = SystemRandom.bytes(count)
    let box = try AES.GCM.seal(
      plain, using: Crypto.SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce), authenticating: associated)
    let sealed = try #require(seal(plain))
    #expect(sealed == Array(box.ciphertext + box.tag))
    #expect(open(sealed) == plain)
  }

  @Test("A changed bit anywhere opens nothing")
  func everyBitCounts() throws {
    let sealed = try #require(seal(Array("refresh token".utf8)))
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1 << UInt8(index % 8)
      #expect(open(changed) == nil)
    }
    for count in sealed.indices { #expect(open(Array(sealed.prefix(count))) == nil) }
    #expect(open(sealed + [0]) == nil)
  }

  @Test("Another key, nonce or associated text opens nothing")
  func everythingIsAuthenticated() throws {
    let sealed = try #require(seal([1, 2, 3]))
    let other = SystemRandom.bytes(32)
    #expect(AES256GCM.open(sealed, using: .init(other), nonce: nonce, authenticating: associated) == nil)
    #expect(AES256GCM.open(sealed, using: .init(key), nonce: Array(other[..<12]), authenticating: associated) == nil)
    #expect(AES256GCM.open(sealed, using: .init(key), nonce: nonce, authenticating: []) == nil)
  }

  @Test("Keys and nonces of another length are refused")
  func otherLengths() {
    for count in [0, 16, 31, 33] {
      #expect(AES256GCM.seal([1], using: .init(SystemRandom.bytes(count)), nonce: nonce, authenticating: []) == nil)
    }
    for count in [0, 8, 11, 13] {
      #expect(AES256GCM.seal([1], using: .init(key), nonce: SystemRandom.bytes(count), authenticating: []) == nil)
    }
  }
}
