import Testing
import Threads

@testable import Operations

// Cases: the first line, lines that are due at once, frequent lines, lines while others are written; flushes, the end,
// lines without a thread.

@Suite("The lines that wait for the log's thread")
struct LogBacklogTests {
  private let line = Array("line\n".utf8)

  private func add(_ bytes: [UInt8], atOnce: Bool, to backlog: inout LogBacklog) -> LogBacklog.Call {
    backlog.add(bytes.span, atOnce: atOnce)
  }

  /// A backlog whose thread sleeps.
  private func asleep() -> LogBacklog {
    var backlog = LogBacklog(capacity: 1_000_000)
    var batch = LogBatch()
    #expect(add(line, atOnce: true, to: &backlog) == .start)
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    batch.removeAll()
    #expect(backlog.next(hasPaused: false, into: &batch) == .sleep)
    return backlog
  }

  @Test("The first line asks for a thread, and those that follow do not")
  func first() {
    var backlog = LogBacklog(capacity: 1_000)
    var batch = LogBatch()
    #expect(add(line, atOnce: true, to: &backlog) == .start)
    #expect(add(line, atOnce: true, to: &backlog) == .nothing)
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(batch.bytes == line + line)
  }

  @Test("A thread that has written everything sleeps until a line wakes it, without a limit of time")
  func sleep() {
    var backlog = asleep()
    var batch = LogBatch()
    #expect(backlog.next(hasPaused: false, into: &batch) == .sleep, "woken for nothing")
    #expect(backlog.next(hasPaused: true, into: &batch) == .sleep)
    #expect(add(line, atOnce: true, to: &backlog) == .wake)
    #expect(add(line, atOnce: true, to: &backlog) == .nothing, "one wake-up for both")
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(batch.bytes == line + line)
  }

  @Test("Frequent lines wait for a pause, once for all of them")
  func pause() {
    var backlog = asleep()
    var batch = LogBatch()
    #expect(add(line, atOnce: false, to: &backlog) == .wake)
    #expect(backlog.next(hasPaused: false, into: &batch) == .pause)
    #expect(add(line, atOnce: false, to: &backlog) == .nothing)
    #expect(backlog.next(hasPaused: true, into: &batch) == .write)
    #expect(batch.bytes == line + line)
    batch.removeAll()
    #expect(backlog.next(hasPaused: false, into: &batch) == .sleep)
  }

  @Test("A line that is due at once ends the pause, and so do many bytes")
  func endOfThePause() {
    for (more, atOnce) in [(line, true), ([UInt8](repeating: 0x61, count: LogBacklog.enough), false)] {
      var backlog = asleep()
      var batch = LogBatch()
      #expect(add(line, atOnce: false, to: &backlog) == .wake)
      #expect(backlog.next(hasPaused: false, into: &batch) == .pause)
      #expect(add(more, atOnce: atOnce, to: &backlog) == .wake)
      #expect(add(line, atOnce: false, to: &backlog) == .nothing)
      #expect(backlog.next(hasPaused: false, into: &batch) == .write)
      #expect(batch.bytes.elementsEqual(line + more + line))
    }
  }

  @Test("Lines that come while others are written wake nobody, and wait for their own pause")
  func whileWriting() {
    var backlog = asleep()
    var batch = LogBatch()
    #expect(add(line, atOnce: true, to: &backlog) == .wake)
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(add(line, atOnce: false, to: &backlog) == .nothing)
    batch.removeAll()
    #expect(backlog.next(hasPaused: false, into: &batch) == .pause)
    #expect(backlog.next(hasPaused: true, into: &batch) == .write)
    #expect(batch.bytes == line)
  }

  @Test("A flush has everything before it written at once; where there is nothing, it asks for nothing")
  func flush() {
    var new = LogBacklog(capacity: 1_000)
    #expect(new.flush(WakeUp()) == nil)
    var backlog = asleep()
    var batch = LogBatch()
    #expect(backlog.flush(WakeUp()) == nil)
    #expect(add(line, atOnce: false, to: &backlog) == .wake)
    #expect(backlog.next(hasPaused: false, into: &batch) == .pause)
    let written = WakeUp()
    #expect(backlog.flush(written) == .wake)
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(batch.bytes == line && batch.flushes.count == 1 && batch.flushes.first === written)
    // The batch is being written.
    #expect(backlog.flush(WakeUp()) == .nothing)
    batch.removeAll()
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(batch.bytes.isEmpty && batch.flushes.count == 1)
  }

  @Test("A gap without lines behind it is reported by the next flush")
  func gap() {
    var backlog = LogBacklog(capacity: 4)
    var batch = LogBatch()
    #expect(add(line, atOnce: true, to: &backlog) == .nothing)
    #expect(backlog.droppedBytes == 5)
    #expect(backlog.flush(WakeUp()) == .start)
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(batch.gap?.bytes == 5 && batch.gap?.lines == 1)
    batch.removeAll()
    #expect(backlog.next(hasPaused: false, into: &batch) == .sleep)
  }

  @Test("A thread that is released writes what waits, and ends")
  func end() {
    var new = LogBacklog(capacity: 1_000)
    #expect(new.release() == .nothing)
    var backlog = asleep()
    var batch = LogBatch()
    #expect(add(line, atOnce: false, to: &backlog) == .wake)
    #expect(backlog.next(hasPaused: false, into: &batch) == .pause)
    #expect(backlog.release() == .wake)
    #expect(backlog.next(hasPaused: false, into: &batch) == .write)
    #expect(batch.bytes == line)
    batch.removeAll()
    #expect(backlog.next(hasPaused: false, into: &batch) == .end)
  }

  @Test("A caller without a thread writes the lines of all callers, and the next line asks for a thread again")
  func noThread() {
    var backlog = LogBacklog(capacity: 1_000)
    var batch = LogBatch()
    for _ in 0..<2 {
      #expect(add(line, atOnce: false, to: &backlog) == .start)
      #expect(add(line, atOnce: false, to: &backlog) == .nothing)
      #expect(backlog.nextForCaller(into: &batch) == true)
      #expect(batch.bytes == line + line)
      batch.removeAll()
      #expect(add(line, atOnce: true, to: &backlog) == .nothing)
      #expect(backlog.nextForCaller(into: &batch) == true)
      #expect(batch.bytes == line)
      batch.removeAll()
      #expect(backlog.nextForCaller(into: &batch) == false)
    }
  }
}
