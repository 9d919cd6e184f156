import Logging
import Operations
import Testing

@testable import DataPlane
@testable import Gateway

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Cases: nothing to report, descriptors, connections that are not accepted, incomplete requests, unsent responses,
// unread bodies; each once, with the number since the last report; shortages that last, and their end; the metrics.

@Suite("Reports of resources that are used up")
struct ResourceWatchTests {
  private let descriptors = DescriptorBudget(limit: 256, others: 64)
  private let memory = MemoryInUse()
  private let accepting = AcceptFailures()
  private let lines = RecordedLines()
  private let watch: ResourceWatch

  init() {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["refusals", "refused", "closed"]) }
    accepting.failed(EMFILE)
    // What was counted before is not reported.
    memory.countClosure(for: .unsentResponses)
    memory.countClosure(for: .unreadBodies)
    memory.countUnfinishedRefusal()
    watch = ResourceWatch(descriptors: descriptors, memory: memory, accepting: accepting, logger: logger)
  }

  @Test("Nothing is logged while nothing is refused or closed")
  func nothing() {
    watch.report()
    #expect(lines.take() == [])
  }

  @Test("Connections closed for unsent responses are logged once for each report, with their number")
  func closures() {
    for _ in 0..<3 { memory.countClosure(for: .unsentResponses) }
    watch.report()
    watch.report()
    #expect(lines.take() == ["clients do not read their responses, closing the connections that hold most - - 3"])
    memory.countClosure(for: .unsentResponses)
    watch.report()
    #expect(lines.take() == ["clients do not read their responses, closing the connections that hold most - - 1"])
  }

  @Test("Connections closed for unread bodies are logged once for each report, with their number")
  func bodies() {
    for _ in 0..<2 { memory.countClosure(for: .unreadBodies) }
    watch.report()
    watch.report()
    #expect(
      lines.take() == ["request bodies wait for the application, closing the connections that hold most - - 2"])
  }

  @Test("Incomplete requests that were ended are logged once for each report, with their number")
  func unfinished() {
    for _ in 0..<4 { memory.countUnfinishedRefusal() }
    watch.report()
    watch.report()
    #expect(lines.take() == ["incomplete requests hold too much memory, ending the oldest - 4 -"])
  }

  @Test("Refusals for lack of descriptors are logged once for each report, with their number")
  func refusals() {
    for _ in 0..<2 { descriptors.ranOut() }
    watch.report()
    watch.report()
    #expect(lines.take() == ["out of file descriptors, connections are delayed or refused 2 - -"])
  }

  @Test("Connections that the system does not accept are logged once a minute, with its reason")
  func accepts() {
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["error", "attempts"]) }
    let watch = ResourceWatch(descriptors: descriptors, memory: memory, accepting: accepting, logger: logger)
    watch.report()
    #expect(lines.take() == [])
    for _ in 0..<3 { accepting.failed(EPERM) }
    watch.report()
    #expect(lines.take() == ["the system refuses to accept connections, clients wait Operation not permitted 3"])
    accepting.failed(EPERM)
    watch.report()
    #expect(lines.take() == [])
  }

  @Test("A lasting shortage of descriptors is logged at its begin, once a minute, and at its end")
  func lastingRefusals() {
    let start = ContinuousClock.now
    descriptors.ranOut()
    watch.report(at: start)
    let shortage = "out of file descriptors, connections are delayed or refused"
    #expect(lines.take() == ["\(shortage) 1 - -"])
    for second in 1...120 {
      descriptors.ranOut()
      watch.report(at: start + .seconds(second))
    }
    #expect(lines.take() == ["\(shortage) 60 - -", "\(shortage) 60 - -"])
    for second in 121...240 { watch.report(at: start + .seconds(second)) }
    #expect(lines.take() == ["connections are accepted again, the shortage is over 121 - -"])
  }

  @Test("A shortage lasts while a listening socket accepts nothing, although nothing is refused meanwhile")
  func pausedSockets() {
    let start = ContinuousClock.now
    descriptors.ranOut()
    descriptors.changePausedSockets(by: 1)
    for second in 0...100 { watch.report(at: start + .seconds(second)) }
    let shortage = "out of file descriptors, connections are delayed or refused"
    #expect(lines.take() == ["\(shortage) 1 - -", "\(shortage) 0 - -"])
    descriptors.changePausedSockets(by: -1)
    for second in 101...200 { watch.report(at: start + .seconds(second)) }
    #expect(lines.take() == ["connections are accepted again, the shortage is over 1 - -"])
  }

  @Test(
    "A lack of memory or of open files in the whole system is told as such",
    arguments: [
      (DescriptorBudget.Shortage.memory, "no memory for another socket", "net.ipv4.tcp_mem"),
      (.systemFiles, "too many open files in the system", "fs.file-max"),
    ])
  func systemShortage(of shortage: DescriptorBudget.Shortage, error: String, remedy: String) {
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["error", "refusals", "remedy"]) }
    let watch = ResourceWatch(descriptors: descriptors, memory: memory, accepting: accepting, logger: logger)
    descriptors.ranOut(of: shortage)
    watch.report()
    let said = lines.take()
    let message = "the system has no room for another connection, connections are delayed or refused \(error) 1"
    #expect(said.count == 1 && said[0].hasPrefix(message) && said[0].contains(remedy), "\(said)")
  }

  @Test("Connections that the system does not accept are logged again after a minute, and when it accepts them again")
  func lastingAcceptFailures() {
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["attempts", "seconds"]) }
    let watch = ResourceWatch(descriptors: descriptors, memory: memory, accepting: accepting, logger: logger)
    let start = ContinuousClock.now
    for second in 0...90 {
      accepting.failed(EPERM)
      watch.report(at: start + .seconds(second))
    }
    for second in 91...200 { watch.report(at: start + .seconds(second)) }
    let refused = "the system refuses to accept connections, clients wait"
    #expect(
      lines.take() == ["\(refused) 1 -", "\(refused) 60 -", "the system accepts connections again 91 90"])
  }

  @Test("The metrics have the numbers since the start of the process")
  func metrics() {
    let metrics = MetricsRegistry(version: "1", startTime: .now())
    watch.addMetrics(to: metrics)
    memory.countClosure(for: .unsentResponses)
    descriptors.ranOut()
    memory.heads.change(by: 5)
    let page = String(decoding: metrics.render(process: ProcessSample()), as: UTF8.self)
    for line in [
      "cordon_unsent_response_closures_total 2", "cordon_unread_request_closures_total 1",
      "cordon_descriptor_refusals_total 1", "cordon_accept_failures_total 1",
      "cordon_unfinished_request_bytes 5", "cordon_unfinished_request_refusals_total 1",
    ] { #expect(page.contains("\n\(line)\n")) }
  }
}
