import Cryptography
import Foundation
import Secrets
import Testing

@testable import Sessions

@Suite("The session cookie")
struct SessionCookieTests {
  @Test("A session cookie proves the session that it was signed for, and is 71 characters of base64url")
  func provesItsSession() throws {
    let keys = try keyring("a")
    for _ in 0..<100 {
      let identifier = SessionIdentifier.random()
      let cookie = keys.signedCookie(for: identifier, on: .publicURL)
      #expect(cookie.utf8.count == 71)
      #expect(cookie.utf8.allSatisfy { Array("-_".utf8).contains($0) || ($0 > 47 && $0 < 123) })
      let verified = try #require(keys.verifyCookie(Array(cookie.utf8), on: .publicURL))
      #expect(verified.identifier == identifier)
      #expect(verified.isSignedByCurrentKey)
    }
  }

  @Test("A session cookie is verified in place in a larger buffer")
  func verifiesInPlace() throws {
    let keys = try keyring("a")
    let identifier = SessionIdentifier.random()
    let field = Array("a=b; __Host-cordon=\(keys.signedCookie(for: identifier, on: .publicURL)); c=d".utf8)
    let verified = field.withUnsafeBytes { field in
      keys.verifyCookie(UnsafeRawBufferPointer(rebasing: field[19..<90]).bytes, on: .publicURL)
    }
    #expect(verified?.identifier == identifier)
  }

  @Test("A session cookie with any bit changed is refused")
  func refusesEveryChangedBit() throws {
    let keys = try keyring("a", "b")
    let cookie = Array(keys.signedCookie(for: .random(), on: .publicURL).utf8)
    for index in cookie.indices {
      for bit in 0..<8 {
        var forged = cookie
        forged[index] ^= 1 << bit
        #expect(keys.verifyCookie(forged, on: .publicURL) == nil, "byte \(index), bit \(bit)")
      }
    }
  }

  @Test("A session cookie that is cut, extended, padded or empty is refused")
  func refusesOtherLengths() throws {
    let keys = try keyring("a")
    let cookie = Array(keys.signedCookie(for: .random(), on: .publicURL).utf8)
    for count in 0..<cookie.count {
      #expect(keys.verifyCookie(Array(cookie[..<count]), on: .publicURL) == nil)
      #expect(keys.verifyCookie(Array(cookie[(cookie.count - count)...]), on: .publicURL) == nil)
    }
    for extra in ["A", "=", "==", " ", "\0", "\r\n", "AAAA"] {
      #expect(keys.verifyCookie(cookie + Array(extra.utf8), on: .publicURL) == nil)
      #expect(keys.verifyCookie(Array(extra.utf8) + cookie, on: .publicURL) == nil)
    }
  }

  @Test("Another base64 form of the same bytes is refused")
  func refusesOtherForms() throws {
    let keys = try keyring("a")
    let cookie = Array(keys.signedCookie(for: .random(), on: .publicURL).utf8)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let last = try #require(alphabet.firstIndex(of: cookie[70]))
    #expect(last % 4 == 0)
    for leftOver in 1...3 {
      #expect(keys.verifyCookie(cookie[..<70] + [alphabet[last + leftOver]], on: .publicURL) == nil)
    }
    let text = String(decoding: cookie, as: UTF8.self)
    let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    if standard != text { #expect(keys.verifyCookie(Array(standard.utf8), on: .publicURL) == nil) }
  }

  @Test("A session cookie that an older key signed is good but known to be old; that of a removed key is refused")
  func rotates() throws {
    let identifier = SessionIdentifier.random()
    let cookie = Array(try keyring("a").signedCookie(for: identifier, on: .publicURL).utf8)
    let rotated = try #require(try keyring("b", "a").verifyCookie(cookie, on: .publicURL))
    #expect(rotated.identifier == identifier)
    #expect(!rotated.isSignedByCurrentKey)
    #expect(try keyring("b").verifyCookie(cookie, on: .publicURL) == nil)
  }

  @Test("A value sealed for another purpose is not a cookie, and a cookie opens as nothing else")
  func isBoundToItsPurpose() throws {
    let keys = try keyring("a")
    let cookie = keys.signedCookie(for: .random(), on: .publicURL)
    for purpose in SealPurpose.allCases {
      for count in 0..<60 {
        let sealed = try keys.sealText(Array(repeating: 1, count: count), for: purpose, expires: nil)
        #expect(keys.verifyCookie(Array(sealed.utf8), on: .publicURL) == nil)
      }
      #expect(throws: SealError.refused) { try keys.openText(Array(cookie.utf8), for: purpose, now: noon) }
    }
  }

  @Test("No key that the secret gives is the key of another purpose")
  func derivesDistinctKeys() throws {
    let keys = try keyring("a").keys[0]
    let all =
      [keys.cookie, keys.pseudonym, keys.account] + SealPurpose.allCases.map { keys.sealing.key(for: $0) }
    let bytes = Set(all.map(\.exposedBytes))
    #expect(bytes.count == all.count)
    #expect(!bytes.contains(secret("a").exposedBytes))
  }

  @Test("The public session ID is the same under every key and reveals nothing of the identifier")
  func handlesAreStable() throws {
    let identifier = SessionIdentifier(high: 1, low: 2)
    // sha256("cordon session handle v1\0" + 00…01 00…02), first 16 bytes, by another implementation
    #expect(identifier.handle.text == SessionCookieTests.knownHandle)
    #expect(PublicSessionID(text: identifier.handle.text) == identifier.handle)
    #expect(PublicSessionID(bytes: identifier.handle.bytes) == identifier.handle)
    #expect(SessionIdentifier.random().handle != SessionIdentifier.random().handle)
    #expect(PublicSessionID(text: "") == nil)
    #expect(PublicSessionID(text: identifier.handle.text + "A") == nil)
    #expect(PublicSessionID(bytes: [1, 2, 3]) == nil)
  }

  @Test("Public session IDs are in the order of their bytes, which is that of the stores' keys")
  func order() {
    let halves: [UInt64] = [0, 1, 0xFF, 0x100, 1 << 63, .max]
    let handles = halves.flatMap { high in halves.map { PublicSessionID(high: high, low: $0) } }
    #expect(handles.shuffled().sorted() == handles)
    for (left, right) in zip(handles, handles.dropFirst()) {
      #expect(left.bytes.lexicographicallyPrecedes(right.bytes))
    }
  }

  static let knownHandle = "m3Ifxa6O8c7Cen_I16AUBQ"

  @Test("Secrets print nothing")
  func secretsPrintNothing() throws {
    let identifier = SessionIdentifier(high: 0x1234_5678_9ABC_DEF0, low: 81_985_529_216_486_895)
    let token = RefreshToken("very-secret")
    let bytes = SessionSecret(Array("very-secret-very-secret-very-secret".utf8))
    for value: Any in [identifier, token, bytes] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped, "\([value])"] {
        #expect(!text.contains("very"))
        #expect(!text.contains("118"))
        #expect(!text.contains("81985529216486895"))
        #expect(!text.contains("1311768467463790320"))
      }
    }
  }

  @Test("A fingerprint is the same for the same cookie only, and differs between processes' keys")
  func fingerprints() throws {
    let keys = try keyring("a")
    let maker = CookieFingerprinter()
    func print(_ text: String, by maker: CookieFingerprinter) -> CookieFingerprint {
      Array(text.utf8).withUnsafeBytes { maker.fingerprint($0) }
    }
    let cookie = keys.signedCookie(for: .random(), on: .publicURL)
    #expect(print(cookie, by: maker) == print(cookie, by: maker))
    #expect(print(cookie, by: maker) != print(keys.signedCookie(for: .random(), on: .publicURL), by: maker))
    #expect(print("B" + cookie.dropFirst(), by: maker) != print(cookie, by: maker), "all of it counts")
    #expect(print("", by: maker) == print("", by: maker) && print("a", by: maker) != print("b", by: maker))
    #expect(print(cookie, by: maker) != print(cookie, by: CookieFingerprinter()))
  }

  @Test("Every byte of a cookie counts for its fingerprint, whatever its length")
  func everyByte() {
    let maker = CookieFingerprinter()
    var prints: Set<CookieFingerprint> = []
    var count = 0
    for length in 0...70 {
      var value = [UInt8](repeating: 0x41, count: length)
      for place in -1..<length {
        if place >= 0 { value[place] ^= 1 }
        prints.insert(value.withUnsafeBytes { maker.fingerprint($0) })
        if place >= 0 { value[place] ^= 1 }
        count += 1
      }
    }
    #expect(prints.count == count)
  }
}
