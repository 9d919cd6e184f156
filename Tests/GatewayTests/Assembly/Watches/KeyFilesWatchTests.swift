import Crypto
import Foundation
import Logging
import Operations
import TemporaryDirectoryTesting
import Testing

@testable import Gateway

// Files of keys and secrets that vanish while the gateway runs.

@Suite("The watches of the files of keys and secrets")
struct KeyFilesWatchTests {
  private let lines = RecordedLines()
  private let health = HealthMonitor(checks: [])
  private let folder: TemporaryDirectory
  private let path: String

  init() throws {
    folder = try TemporaryDirectory()
    path = folder.file("key")
  }

  private func logger(_ keys: [String]) -> Logger {
    Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, keys) }
  }

  private func write(_ text: String) throws {
    try? FileManager.default.removeItem(atPath: path)
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
    try #require(FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: attributes))
  }

  @Test("A file of Apple's key that is gone or damaged is logged once, with the remedy, and once when it is back")
  func appleKey() throws {
    let key = P256.Signing.PrivateKey()
    let apple = try FakeApple().provider(TestClock(), key: key, keyFile: path)
    let watch = AppleKeyWatch(health: health, logger: logger(["problem", "remedy"]))
    try write(key.pemRepresentation)
    for _ in 0..<2 { watch.check(apple) }
    #expect(lines.take() == [] && health.report.checks.isEmpty)
    try FileManager.default.removeItem(atPath: path)
    for _ in 0..<2 { watch.check(apple) }
    let message = "Apple's key file cannot be used, keeping the key in use"
    let remedy = "put it there, or correct the path; until then, a restart would fail"
    #expect(lines.take() == ["\(message) \(path) does not exist \(remedy)"])
    #expect(health.report.checks.map(\.name) == ["apple key"] && health.report.isReady)
    try write("half of a key")
    for _ in 0..<2 { watch.check(apple) }
    let damaged = lines.take()
    #expect(damaged.count == 1 && damaged.first?.contains("is not a private key in PEM form") == true, "\(damaged)")
    try write(key.pemRepresentation)
    for _ in 0..<2 { watch.check(apple) }
    #expect(lines.take() == ["Apple's key file can be used again - -"] && health.report.checks.isEmpty)
  }

  @Test("Another key in Apple's file is told after the file is back, and only once")
  func otherAppleKey() throws {
    let apple = try FakeApple().provider(TestClock(), keyFile: path)
    let watch = AppleKeyWatch(health: health, logger: logger(["file"]))
    watch.check(apple)
    #expect(lines.take().count == 1)
    try write(P256.Signing.PrivateKey().pemRepresentation)
    for _ in 0..<2 { watch.check(apple) }
    let expected = ["Apple's key file can be used again", "Apple's key file has another key than the one in use"]
    #expect(lines.take() == expected.map { "\($0) \(path)" })
  }

  @Test("A file of secrets that is gone is logged once, and once when it is back")
  func secrets() throws {
    let watch = KeyFilesWatch(health: health, logger: logger(["file"]))
    try write("secret")
    watch.check([path])
    #expect(lines.take() == [] && health.report.checks.isEmpty)
    try FileManager.default.removeItem(atPath: path)
    for _ in 0..<2 { watch.check([path]) }
    #expect(lines.take() == ["a file of secrets is missing, keeping the secrets in use \(path)"])
    #expect(health.report.checks.map(\.name) == ["secret files"] && health.report.isReady)
    try write("secret")
    for _ in 0..<2 { watch.check([path]) }
    #expect(lines.take() == ["a file of secrets is there again \(path)"] && health.report.checks.isEmpty)
    // A reload that no longer names a file says nothing about it.
    try FileManager.default.removeItem(atPath: path)
    watch.check([path])
    _ = lines.take()
    watch.check([])
    #expect(lines.take() == [] && health.report.checks.isEmpty)
  }
}
