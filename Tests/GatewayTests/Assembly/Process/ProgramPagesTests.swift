import Foundation
import Testing

@testable import Gateway

@Suite("The pages of the program")
struct ProgramPagesTests {
  // elf(5).
  private static let load: UInt32 = 1
  private static let executable: UInt32 = 1
  private static let writable: UInt32 = 2
  private static let readable: UInt32 = 4

  @Test("Code and constants are never written", arguments: [readable, readable | executable])
  func neverWritten(flags: UInt32) { #expect(ProgramPages.isNeverWritten(type: Self.load, flags: flags)) }

  @Test("Variables may have been written", arguments: [readable | writable, readable | writable | executable])
  func written(flags: UInt32) { #expect(!ProgramPages.isNeverWritten(type: Self.load, flags: flags)) }

  @Test("A header that describes no loaded segment is left alone", arguments: [0, 2, 4, 6, 7] as [UInt32])
  func others(type: UInt32) { #expect(!ProgramPages.isNeverWritten(type: type, flags: Self.readable)) }

  @Test(
    "A page that is shared with a neighbour is kept",
    arguments: [
      (0x1000..<0x4000, 0x1000..<0x4000), (0x1800..<0x4800, 0x2000..<0x4000), (0x1001..<0x4fff, 0x2000..<0x4000),
    ] as [(Range<UInt>, Range<UInt>)])
  func wholePages(bytes: Range<UInt>, pages: Range<UInt>) {
    #expect(ProgramPages.pages(within: bytes, pageSize: 0x1000) == pages)
  }

  @Test(
    "A segment without a whole page has nothing to release",
    arguments: [0x1000..<0x1000, 0x1800..<0x2100, 0x1001..<0x2fff] as [Range<UInt>])
  func noPage(bytes: Range<UInt>) { #expect(ProgramPages.pages(within: bytes, pageSize: 0x1000) == nil) }

  /// The memory of this process that is mapped of files, in KiB (proc(5), `/proc/PID/status`).
  private func fileKiB() throws -> Int {
    let file = try #require(FileHandle(forReadingAtPath: "/proc/self/status"))
    defer { try? file.close() }
    let status = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
    return try #require(line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) })
  }

  @Test("A process whose pages are released has less of its program in memory, and goes on")
  func goesOn() throws {
    // Other tests that run meanwhile may read pages in again.
    let isLess = try (0..<20).contains { _ in
      let before = try fileKiB()
      ProgramPages.release()
      return try fileKiB() < before
    }
    #expect(isLess)
  }
}
