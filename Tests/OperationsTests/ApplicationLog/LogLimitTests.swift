import Testing

@testable import Operations

// An application that is down must not fill the disk with the log: some lines for each reason, and their number.
@Suite("Limits of log lines")
struct LogLimitTests {
  private let limit = LogLimit(lines: 10)

  private func at(_ seconds: Int) -> Duration { .seconds(1_000 + seconds) }

  @Test("Ten a minute are written for one reason, and the next one says how many were left out")
  func bounded() {
    for number in 0..<1_000 { #expect(limit.admit("502 down", at: at(0)) == (number < 10 ? 0 : nil)) }
    #expect(limit.admit("502 down", at: at(59)) == nil)
    #expect(limit.admit("502 down", at: at(60)) == 991)
    for _ in 0..<9 { #expect(limit.admit("502 down", at: at(61)) == 0) }
    #expect(limit.admit("502 down", at: at(61)) == nil)
  }

  @Test("Many lines for one reason leave out none for another")
  func reasons() {
    for _ in 0..<1_000 { _ = limit.admit("502 down", at: at(0)) }
    #expect(limit.admit("504 slow", at: at(0)) == 0)
  }

  @Test("Reasons without end share one limit, which costs those that are known nothing, until a minute has passed")
  func manyReasons() {
    var written = 0
    for number in 0..<10_000 where limit.admit("502 \(number)", at: at(0)) != nil { written += 1 }
    #expect(written == LogLimit.mostReasons + 10)
    #expect(limit.admit("502 0", at: at(1)) == 0)
    #expect(limit.admit("504 new", at: at(59)) == nil)
    #expect(limit.admit("504 new", at: at(60)) == 0)
  }

  @Test("A reason keeps its number of lines that were left out while reasons without any can make room for others")
  func keptCount() {
    for _ in 0..<25 { _ = limit.admit("502 down", at: at(0)) }
    for number in 1..<LogLimit.mostReasons { #expect(limit.admit("502 \(number)", at: at(0)) == 0) }
    #expect(limit.admit("504 new", at: at(60)) == 0)
    #expect(limit.admit("502 down", at: at(61)) == 15)
  }

  @Test("Lines that were left out for reasons that make room for others are reported with the rest")
  func sharedCount() {
    for number in 0..<LogLimit.mostReasons {
      for _ in 0..<11 { _ = limit.admit("502 \(number)", at: at(0)) }
    }
    #expect(limit.admit("504 new", at: at(60)) == 0)
    #expect(limit.admit(at: at(60)) == LogLimit.mostReasons)
    #expect(limit.admit("502 0", at: at(60)) == 0)
  }

  @Test("Without other numbers one line a minute is due, the first at once")
  func oneLine() {
    let limit = LogLimit()
    #expect(limit.isDue(at: at(0)))
    #expect(!limit.isDue(at: at(0)) && !limit.isDue(at: at(59)))
    #expect(limit.isDue(at: at(60)) && !limit.isDue(at: at(61)))
  }

  @Test("The interval may be longer, and ends for all reasons when the limit starts over")
  func startsOver() {
    let limit = LogLimit(each: .seconds(3_600))
    #expect(limit.isDue("key", at: at(0)) && limit.isDue("damaged", at: at(0)))
    #expect(!limit.isDue("key", at: at(3_599)))
    limit.reset()
    #expect(limit.isDue("key", at: at(3_599)) && limit.isDue("damaged", at: at(3_599)))
  }

  @Test("A clock that is set back does not silence it")
  func clock() {
    for _ in 0..<20 { _ = limit.admit(at: .milliseconds(1_000_000)) }
    #expect(limit.admit(at: .zero) == 10)
    #expect(limit.admit(at: .milliseconds(Int64.max)) == 0)
    #expect(limit.admit(at: .milliseconds(Int64.min)) == 0)
  }

  @Test("Threads whose clocks differ a little begin no second interval")
  func concurrentThreads() {
    let limit = LogLimit()
    #expect(limit.isDue(at: at(60)))
    #expect(!limit.isDue(at: at(60) - .milliseconds(1)) && !limit.isDue(at: at(1)))
  }
}
