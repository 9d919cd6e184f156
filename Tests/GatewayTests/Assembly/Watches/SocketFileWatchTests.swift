import Foundation
import Logging
import Operations
import TemporaryDirectoryTesting
import Testing

@testable import DataPlane
@testable import Gateway

@Suite("The watch of the files of listening sockets")
struct SocketFileWatchTests {
  private let lines = RecordedLines()
  private let health = HealthMonitor(checks: [])
  private let folder: TemporaryDirectory
  private let path: String
  private let aside: String

  init() throws {
    folder = try TemporaryDirectory()
    path = folder.file("cordon.sock")
    aside = folder.file("aside")
    // Any file will do: only its identity counts.
    try Data().write(to: URL(fileURLWithPath: path))
  }

  private func watch(isInherited: Bool = false) throws -> SocketFileWatch {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["path", "problem"]) }
    let file = try #require(SocketFile(of: .unix(path: path), isInherited: isInherited))
    return SocketFileWatch([file], health: health, logger: logger)
  }

  @Test("A file that is removed is told once, on health until it is back, and so is its return")
  func removed() throws {
    let watch = try watch()
    watch.check()
    #expect(lines.take() == [] && health.report.checks.isEmpty)
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    watch.check()
    watch.check()
    let message = "the file of a listening socket was removed or replaced, clients cannot connect"
    #expect(lines.take() == ["\(message) \(path) \(path) is missing"])
    #expect(health.report.checks.map(\.name) == ["listening sockets"] && health.report.checks[0].status == .failing)
    #expect(health.report.checks[0].message?.contains("restart cordon, which makes it again") == true)
    #expect(health.report.isReady)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    watch.check()
    watch.check()
    #expect(lines.take() == ["the file of a listening socket is back \(path) -"] && health.report.checks.isEmpty)
  }

  @Test("Another file in its place is told, and during a shutdown none is")
  func replaced() throws {
    let watch = try watch()
    // The file stays, as that of a bound socket does, so that the other one gets another inode.
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try Data().write(to: URL(fileURLWithPath: path))
    watch.check()
    let message = "the file of a listening socket was removed or replaced, clients cannot connect"
    #expect(lines.take() == ["\(message) \(path) \(path) is another file"])
    health.beginDraining()
    try FileManager.default.removeItem(atPath: path)
    watch.check()
    #expect(lines.take() == [])
  }

  @Test("Of an inherited socket the socket unit is to be restarted, which made it")
  func inherited() throws {
    let watch = try watch(isInherited: true)
    try FileManager.default.removeItem(atPath: path)
    watch.check()
    #expect(health.report.checks.first?.message?.contains("restart its socket unit") == true)
  }

  @Test("An IP address has no file, nor has a socket whose file cannot be seen")
  func none() {
    #expect(SocketFile(of: .ip(host: "127.0.0.1", port: 80), isInherited: false) == nil)
    #expect(SocketFile(of: .unix(path: aside), isInherited: false) == nil)
  }
}
