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

@Suite("The keyring")
struct SessionKeyringTests {
  @Test("A secret has at least 32 bytes after one trailing newline was dropped")
  func judgesLength() throws {
    #expect(throws: KeyringError.self) { try SessionKeyring(secrets: []) }
    let newline = UInt8(ascii: "\n")
    for (bytes, isEnough) in [
      (Array(repeating: 1, count: 32), true), (Array(repeating: 1, count: 31), false),
      (Array(repeating: 1, count: 31) + [newline], false), (Array(repeating: 1, count: 32) + [newline], true),
      (Array(repeating: 1, count: 31) + [newline, newline], true), ([], false), ([newline], false),
      (Array(repeating: 1, count: 65_536), true), (Array(repeating: 1, count: 65_537), false),
    ] as [([UInt8], Bool)] {
      if isEnough {
        _ = try SessionKeyring(secrets: [SessionSecret(bytes)])
      } else {
        let error = #expect(throws: KeyringError.self) { try SessionKeyring(secrets: [SessionSecret(bytes)]) }
        #expect(error?.message.contains("cordon keygen") == true)
      }
    }
    let plain = try SessionKeyring(secrets: [secret("a")])
    let withNewline = try SessionKeyring(secrets: [SessionSecret(secret("a").exposedBytes + [newline])])
    #expect(plain.currentKey == withNewline.currentKey)
    #expect(plain.currentKey != (try keyring("b").currentKey))
  }

  @Test("Secrets are read from files, and a file that is missing or too short is named with the remedy")
  func readsFiles() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let good = folder.appendingPathComponent("good.key")
    try write(secret("a").exposedBytes + [UInt8(ascii: "\n")], to: good)
    #expect(try SessionKeyring(files: [good.path]).currentKey == keyring("a").currentKey)
    for mode in [0o644, 0o620, 0o604] {
      let exposed = folder.appendingPathComponent("exposed-\(mode).key")
      try write(secret("a").exposedBytes, to: exposed, mode: mode)
      let error = #expect(throws: KeyringError.self) { try SessionKeyring(files: [exposed.path]) }
      #expect(error?.code == .unreadable(path: exposed.path))
      #expect(error?.message.contains("chmod g-w,o= \(exposed.path)") == true)
    }
    let short = folder.appendingPathComponent("short.key")
    try write([1, 2, 3], to: short)
    let missing = folder.appendingPathComponent("missing.key")
    let huge = folder.appendingPathComponent("huge.key")
    try write([UInt8](repeating: 0, count: 1_000_000), to: huge)
    for (path, code) in [
      (short.path, KeyringError.Code.tooShort(path: short.path, byteCount: 3)),
      (missing.path, .unreadable(path: missing.path)), (folder.path, .unreadable(path: folder.path)),
      (huge.path, .tooLong(path: huge.path)),
    ] {
      let error = #expect(throws: KeyringError.self) { try SessionKeyring(files: [good.path, path]) }
      #expect(error?.code == code)
      #expect(error?.message.contains(path) == true)
      #expect(error?.message.contains("cordon keygen") == true)
    }
    // Nothing is mapped at the beginning of a process's memory: EIO.
    let failed = #expect(throws: KeyringError.self) { try SessionKeyring(files: [good.path, "/proc/self/mem"]) }
    #expect(failed?.code == .readFailed(path: "/proc/self/mem") && failed?.isTransient == true)
    #expect(failed?.message.contains("cordon keygen") == false)
  }

  private func write(_ bytes: [UInt8], to file: URL, mode: Int = 0o600) throws {
    try Data(bytes).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  @Test("A start that would lose tokens is refused, with the number, the keys and the remedy")
  func refusesToLoseTokens() throws {
    let old = try keyring("a").currentKey
    let rotated = try keyring("b", "a")
    try rotated.requireEveryKey(of: [old: 3, rotated.currentKey: 2])
    try keyring("b").requireEveryKey(of: [:])
    try keyring("b").requireEveryKey(of: [old: 0])
    let error = #expect(throws: KeyringError.self) {
      try keyring("b").requireEveryKey(of: [old: 3, rotated.currentKey: 2])
    }
    #expect(error?.code == .tokensWouldBeLost(count: 3, keys: [old]))
    #expect(error?.message.contains("3 refresh tokens") == true)
    #expect(error?.message.contains(old.description) == true)
    #expect(error?.message.contains("cordon store reseal") == true)
  }

  @Test("A generated secret is a line of 64 characters that makes a key, and never the same")
  func generatesSecrets() throws {
    let contents = (0..<20).map { _ in SessionSecret.newFileContent() }
    #expect(Set(contents).count == 20)
    for content in contents {
      #expect(content.count == 65 && content.last == UInt8(ascii: "\n"))
      #expect(!content.dropLast().contains(UInt8(ascii: "\n")))
      _ = try SessionKeyring(secrets: [SessionSecret(content)])
    }
  }

  @Test("A key's identifier is always eight hexadecimal digits")
  func namesKeys() {
    #expect(KeyIdentifier(number: 0xAB).description == "000000ab")
    #expect(KeyIdentifier(number: .max).description == "ffffffff")
  }
}
