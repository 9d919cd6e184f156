import Foundation
import Secrets
import Testing

@testable import Sessions

@Suite("Sealed values")
struct SealedValueTests {
  @Test("A sealed value is opened until its time is over")
  func opensUntilItExpires() throws {
    let keys = try keyring("a")
    let sealed = Array(try keys.sealText([1, 2, 3], for: .attempt, expires: noon.addingTimeInterval(600)).utf8)
    #expect(try keys.openText(sealed, for: .attempt, now: noon) == [1, 2, 3])
    #expect(try keys.openText(sealed, for: .attempt, now: noon.addingTimeInterval(599.999)) == [1, 2, 3])
    #expect(throws: SealError.expired) {
      try keys.openText(sealed, for: .attempt, now: noon.addingTimeInterval(600))
    }
    let forever = Array(try keys.sealText([], for: .attempt, expires: nil).utf8)
    #expect(try keys.openText(forever, for: .attempt, now: .distantFuture) == [])
    let absurd = Array(try keys.sealText([4], for: .attempt, expires: Date(timeIntervalSince1970: 1e300)).utf8)
    #expect(try keys.openText(absurd, for: .attempt, now: noon) == [4])
  }

  @Test("A sealed value opens for its purpose and context only")
  func isBoundToPurposeAndContext() throws {
    let keys = try keyring("a")
    let sealed = Array(try keys.sealText([1], for: .attempt, context: [7], expires: nil).utf8)
    #expect(try keys.openText(sealed, for: .attempt, context: [7], now: noon) == [1])
    for purpose in SealPurpose.allCases {
      for context: [UInt8] in [[], [7], [8], [7, 0], [0, 7]] where purpose != .attempt || context != [7] {
        #expect(throws: SealError.refused) {
          try keys.openText(sealed, for: purpose, context: context, now: noon)
        }
      }
    }
  }

  @Test("A sealed value with any byte changed, cut or added is refused")
  func refusesEveryChange() throws {
    let keys = try keyring("a", "b")
    let sealed = Array(try keys.sealText(Array("attempt".utf8), for: .attempt, expires: nil).utf8)
    for index in sealed.indices {
      var forged = sealed
      forged[index] = forged[index] == UInt8(ascii: "x") ? UInt8(ascii: "y") : UInt8(ascii: "x")
      #expect(throws: SealError.self) { try keys.openText(forged, for: .attempt, now: noon) }
      #expect(throws: SealError.refused) { try keys.openText(Array(sealed[..<index]), for: .attempt, now: noon) }
    }
    for extra in ["A", "AAAA", "=", " "] {
      #expect(throws: SealError.refused) {
        try keys.openText(sealed + Array(extra.utf8), for: .attempt, now: noon)
      }
    }
  }

  @Test("The same bytes never seal to the same text, and the text reveals nothing but its length")
  func isRandom() throws {
    let keys = try keyring("a")
    let texts = try (0..<100).map { _ in try keys.sealText(Array("hello".utf8), for: .attempt, expires: nil) }
    #expect(Set(texts).count == 100)
    #expect(texts.allSatisfy { $0.utf8.count == texts[0].utf8.count })
  }

  @Test("An older key opens, the first seals, and a removed key is named")
  func rotates() throws {
    let old = try keyring("a")
    let sealed = Array(try old.sealText([1], for: .attempt, expires: nil).utf8)
    #expect(try keyring("b", "a").openText(sealed, for: .attempt, now: noon) == [1])
    #expect(throws: SealError.unknownKey(old.currentKey)) {
      try keyring("b").openText(sealed, for: .attempt, now: noon)
    }
    let rotated = try keyring("b", "a")
    #expect(rotated.currentKey == (try keyring("b").currentKey))
    let subject = try #require(Subject("s"))
    #expect(try rotated.seal(RefreshToken("r"), of: subject, clientID: "c").key == rotated.currentKey)
  }

  @Test("A refresh token opens only as the token of its user and client")
  func tokensAreBound() throws {
    let keys = try keyring("a")
    let ada = try #require(Subject("ada"))
    let bob = try #require(Subject("bob"))
    let sealed = try keys.seal(RefreshToken("r.secret"), of: ada, clientID: "web")
    #expect(try keys.open(sealed, of: ada, clientID: "web") == RefreshToken("r.secret"))
    #expect(throws: SealError.refused) { try keys.open(sealed, of: bob, clientID: "web") }
    #expect(throws: SealError.refused) { try keys.open(sealed, of: ada, clientID: "app") }
    #expect(EncryptedToken(bytes: sealed.bytes) == sealed)
    #expect(EncryptedToken(bytes: []) == nil)
    #expect(EncryptedToken(bytes: Array(sealed.bytes.dropFirst())) == nil)
  }
}
