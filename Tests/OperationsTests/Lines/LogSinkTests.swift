import Foundation
import Testing
import Threads
import WaitingTesting

@testable import Operations

@Suite("The sink of log lines")
struct LogSinkTests {
  /// Reads on a thread of its own: there are as few threads for tasks as processors, and the writers need them.
  private static func readToEnd(_ pipe: Pipe) async -> Data {
    await SerialWorker(named: "reader").run { pipe.fileHandleForReading.readDataToEndOfFile() }
  }

  @Test("Lines from many threads arrive whole")
  func wholeLines() async throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    async let read = Self.readToEnd(pipe)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            output.write(Array("writer \(writer) line \(number) \(String(repeating: "x", count: 60))\n".utf8).span)
          }
        }
      }
    }
    output.flush(atMost: patience)
    try pipe.fileHandleForWriting.close()
    let lines = String(decoding: await read, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 4_000)
    #expect(lines.allSatisfy { $0.hasPrefix("writer ") && $0.hasSuffix(String(repeating: "x", count: 60)) })
    #expect(output.droppedBytes == 0)
  }

  @Test("Lines that may be batched are written without a flush, each time again", .timeLimit(.minutes(5)))
  func deferred() throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    for number in 0..<3 {
      let line = Array("line \(number)\n".utf8)
      output.write(line.span, atOnce: false)
      #expect(pipe.fileHandleForReading.availableData == Data(line))
    }
  }

  @Test("Lines beyond the capacity are dropped and counted, not waited for")
  func bounded() throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 100)
    output.write([UInt8](repeating: 0x61, count: 101).span)
    #expect(output.droppedBytes == 101)
    output.write(Array("fits\n".utf8).span)
    output.flush(atMost: patience)
    try pipe.fileHandleForWriting.close()
    #expect(pipe.fileHandleForReading.readDataToEndOfFile() == Data("fits\n".utf8))
  }

  @Test(
    "A pipe without a reader blocks no thread: excess lines are dropped and counted, and the shutdown completes")
  func stalled() throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 100_000)
    let line = [UInt8](repeating: 0x61, count: 999) + [0x0A]
    // More than a pipe takes (64 KiB), than waits, and than may wait behind that.
    for number in 0..<1_000 { output.write(line.span, atOnce: number % 2 == 0) }
    #expect(output.droppedBytes > 500_000)
    #expect(!output.flush(atMost: .milliseconds(50)))
    let dropped = output.droppedBytes
    let reader = pipe.fileHandleForReading
    var arrived = 0
    while arrived + Int(dropped) < 1_000_000 { arrived += reader.availableData.count }
    #expect(arrived + Int(dropped) == 1_000_000, "what was not dropped is whole")
    #expect(output.flush(atMost: patience))
  }

  @Test(
    "Once lines are written again, one tells how many were dropped, behind those that were kept",
    .timeLimit(.minutes(5)))
  func gap() throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 100_000)
    output.reportGaps { Array("gap of \($0.lines) lines, \($0.bytes) bytes\n".utf8) }
    let line = [UInt8](repeating: 0x61, count: 999) + [0x0A]
    for _ in 0..<1_000 { output.write(line.span) }
    let dropped = output.droppedBytes
    #expect(dropped > 500_000)
    let reader = pipe.fileHandleForReading
    // A line of a batch may have been dropped before the batch behind it was kept: then there is more than one gap.
    var (kept, told, toldBytes) = (0, 0, 0)
    var last = Substring()
    var arrived = Data()
    while kept + told < 1_000 {
      arrived += reader.availableData
      guard let end = arrived.lastIndex(of: 0x0A) else { continue }
      for line in String(decoding: arrived[...end], as: UTF8.self).split(separator: "\n") {
        last = line
        if let match = line.wholeMatch(of: /gap of (\d+) lines, (\d+) bytes/) {
          told += try #require(Int(match.1))
          toldBytes += try #require(Int(match.2))
        } else {
          #expect(line.utf8.count == 999)
          kept += 1
        }
      }
      arrived = Data(arrived[(end + 1)...])
    }
    #expect(kept + told == 1_000 && toldBytes == Int(dropped) && last.hasPrefix("gap of"))
    output.write(Array("next\n".utf8).span)
    output.flush(atMost: patience)
    #expect(reader.availableData == Data("next\n".utf8), "it is told once")
  }

  @Test("Lines that a failed write has lost are told of as well, with those of the failures since")
  func gapOfFailures() throws {
    signal(SIGPIPE, SIG_IGN)
    let (first, second) = (Pipe(), Pipe())
    let descriptor = dup(first.fileHandleForWriting.fileDescriptor)
    try first.fileHandleForWriting.close()
    try first.fileHandleForReading.close()
    defer { close(descriptor) }
    let output = LogSink(descriptor: descriptor)
    output.reportGaps { Array("gap of \($0.lines) lines, \($0.bytes) bytes\n".utf8) }
    for line in ["one\n", "two\nthree\n"] {
      output.write(Array(line.utf8).span)
      output.flush(atMost: patience)
    }
    #expect(output.droppedBytes == 14)
    dup2(second.fileHandleForWriting.fileDescriptor, descriptor)
    try second.fileHandleForWriting.close()
    output.write(Array("next\n".utf8).span)
    output.flush(atMost: patience)
    #expect(second.fileHandleForReading.availableData == Data("next\ngap of 3 lines, 14 bytes\n".utf8))
  }

  @Test("After a line that was cut off by a failure, the next one begins on a line of its own")
  func cut() throws {
    signal(SIGPIPE, SIG_IGN)
    let (first, second) = (Pipe(), Pipe())
    let descriptor = dup(first.fileHandleForWriting.fileDescriptor)
    try first.fileHandleForWriting.close()
    defer { close(descriptor) }
    let output = LogSink(descriptor: descriptor)
    // More than the pipe takes: a part is written when the reader leaves.
    output.write(([UInt8](repeating: 0x61, count: 300_000) + [0x0A]).span)
    _ = try first.fileHandleForReading.read(upToCount: 1)
    try first.fileHandleForReading.close()
    output.flush(atMost: patience)
    #expect(output.droppedBytes > 0)
    dup2(second.fileHandleForWriting.fileDescriptor, descriptor)
    try second.fileHandleForWriting.close()
    for line in ["next\n", "last\n"] {
      output.write(Array(line.utf8).span)
      output.flush(atMost: patience)
    }
    #expect(second.fileHandleForReading.availableData == Data("\nnext\nlast\n".utf8))
  }

  @Test("Without a thread left for the sink, each line is written by its caller, in the order of the calls")
  func noThread() throws {
    let pipe = Pipe()
    // A stack of a PiB: more than an address space has.
    let output = LogSink(
      descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 1_000, stackSize: 1 << 50)
    #expect(output.flush(atMost: patience))
    for number in 0..<100 {
      let line = Array("line \(number)\n".utf8)
      output.write(line.span, atOnce: number % 2 == 0)
      #expect(pipe.fileHandleForReading.availableData == Data(line))
    }
    #expect(output.flush(atMost: patience) && output.droppedBytes == 0)
  }

  @Test("Without a thread left for the sink, lines from many threads arrive whole")
  func noThreadForMany() async throws {
    let pipe = Pipe()
    let output = LogSink(
      descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 1_000_000, stackSize: 1 << 50)
    async let read = Self.readToEnd(pipe)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<200 { output.write(Array("writer \(writer) line \(number)\n".utf8).span) }
        }
      }
    }
    #expect(output.flush(atMost: patience))
    try pipe.fileHandleForWriting.close()
    let lines = String(decoding: await read, as: UTF8.self).split(separator: "\n")
    #expect(Set(lines).count == 800 && lines.allSatisfy { $0.wholeMatch(of: /writer \d line \d+/) != nil })
    #expect(output.droppedBytes == 0)
  }

  @Test("When a sink is released, its thread writes what waits, and ends", .timeLimit(.minutes(5)))
  func released() async throws {
    let pipe = Pipe()
    weak var writer: LogWriter?
    do {
      let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
      writer = output.writer
      output.write(Array("last\n".utf8).span, atOnce: false)
    }
    #expect(pipe.fileHandleForReading.availableData == Data("last\n".utf8))
    try await eventually("the end of the thread") { writer == nil }
  }

  @Test("A descriptor that cannot be written loses its lines, and nothing else happens")
  func closed() {
    let output = LogSink(descriptor: -1)
    output.write(Array("gone\n".utf8).span)
    output.flush(atMost: patience)
    #expect(output.droppedBytes == 5)
    #expect(!output.isTerminal)
  }
}
