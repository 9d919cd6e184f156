import Foundation
import Secrets
import TemporaryDirectoryTesting
import Testing

@testable import Sessions

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
    let folder = try TemporaryDirectory()
    let good = folder.url.appendingPathComponent("good.key")
    try write(secret("a").exposedBytes + [UInt8(ascii: "\n")], to: good)
    #expect(try SessionKeyring(files: [good.path]).currentKey == keyring("a").currentKey)
    for mode in [0o644, 0o620, 0o604] {
      let exposed = folder.url.appendingPathComponent("exposed \(mode).key")
      try write(secret("a").exposedBytes, to: exposed, mode: mode)
      let error = #expect(throws: KeyringError.self) { try SessionKeyring(files: [exposed.path]) }
      #expect(error?.code == .unreadable(path: exposed.path))
      #expect(error?.message.contains("chmod g-w,o= \"\(exposed.path)\"") == true)
    }
    let short = folder.url.appendingPathComponent("short.key")
    try write([1, 2, 3], to: short)
    let missing = folder.url.appendingPathComponent("missing.key")
    let huge = folder.url.appendingPathComponent("huge.key")
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
