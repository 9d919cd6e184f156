internal import DataPlane
internal import Logging
internal import Operations
internal import Synchronization

/// Reports connections and requests that were refused or ended because a resource of the process was used up.
final class ResourceWatch: Sendable {
  private let descriptors: DescriptorBudget
  private let memory: MemoryInUse
  private let accepting: AcceptFailures
  private let logger: Logger
  private let refusalLog: Mutex<ShortageLog>
  private let acceptLog: Mutex<ShortageLog>
  private let loggedUnfinished: Atomic<Int>
  private let loggedUnsent: Atomic<Int>
  private let loggedUnread: Atomic<Int>

  init(
    descriptors: DescriptorBudget = .process, memory: MemoryInUse = .process, accepting: AcceptFailures = .process,
    logger: Logger
  ) {
    self.descriptors = descriptors
    self.memory = memory
    self.accepting = accepting
    self.logger = logger
    refusalLog = Mutex(ShortageLog(after: descriptors.refusals))
    acceptLog = Mutex(ShortageLog(after: accepting.count))
    loggedUnfinished = Atomic(memory.unfinishedRefusals)
    loggedUnsent = Atomic(memory.unsentClosures)
    loggedUnread = Atomic(memory.unreadClosures)
  }

  func addMetrics(to metrics: MetricsRegistry) {
    metrics.addGauge(
      "cordon_descriptor_refusals_total", kind: .counter,
      help: "Connections not accepted or not opened for lack of file descriptors."
    ) { [descriptors] in Double(descriptors.refusals) }
    metrics.addGauge(
      "cordon_accept_failures_total", kind: .counter,
      help: "Failed attempts to accept a connection, for another reason than a lack of descriptors or memory."
    ) { [accepting] in Double(accepting.count) }
    metrics.addGauge(
      "cordon_unfinished_request_bytes", help: "Memory for incomplete requests and handshakes, in bytes."
    ) { [memory] in Double(memory.headBytes) }
    metrics.addGauge(
      "cordon_unfinished_request_refusals_total", kind: .counter,
      help: "Incomplete requests and handshakes ended because memory for them was used up."
    ) { [memory] in Double(memory.unfinishedRefusals) }
    metrics.addGauge(
      "cordon_unsent_response_closures_total", kind: .counter,
      help: "Connections closed because memory for responses that clients do not read was used up."
    ) { [memory] in Double(memory.unsentClosures) }
    metrics.addGauge(
      "cordon_unread_request_closures_total", kind: .counter,
      help: "Connections closed because memory for request bodies that the application does not read was used up."
    ) { [memory] in Double(memory.unreadClosures) }
  }

  /// Logs at most one line of each kind, with the number since the last line: the interval between calls limits their
  /// rate. Shortages that last are logged once a minute.
  func report(at now: ContinuousClock.Instant = .now) {
    reportRefusals(at: now)
    reportAccepting(at: now)
    reportMemory()
  }

  private func reportRefusals(at now: ContinuousClock.Instant) {
    let paused = descriptors.pausedSockets
    switch refusalLog.withLock({ $0.line(for: descriptors.refusals, isBlocked: paused > 0, at: now) }) {
    case nil: break
    case .ended(let count, let duration)?:
      logger.notice(
        "connections are accepted again, the shortage is over",
        metadata: ["refusals": "\(count)", "seconds": "\(duration.components.seconds)"])
    case .lasts(let count)?:
      guard let (problem, remedy) = Self.text(descriptors.latestShortage) else {
        return logger.error(
          "out of file descriptors, connections are delayed or refused",
          metadata: [
            "connections": "\(descriptors.connections)", "refusals": "\(count)", "paused": "\(paused)",
            "remedy": "raise LimitNOFILE= of the unit (ulimit -n), or lower listen.limits.connections",
          ])
      }
      logger.error(
        "the system has no room for another connection, connections are delayed or refused",
        metadata: ["error": "\(problem)", "refusals": "\(count)", "paused": "\(paused)", "remedy": "\(remedy)"])
    }
  }

  /// Nil where the process lacks descriptors of its own.
  private static func text(_ shortage: DescriptorBudget.Shortage) -> (problem: String, remedy: String)? {
    switch shortage {
    case .descriptors:
      return nil
    case .systemFiles:
      let remedy = "raise fs.file-max, or see which process holds them (/proc/sys/fs/file-nr, lsof)"
      return ("too many open files in the system", remedy)
    case .memory:
      let remedy = "look at the memory of the machine, at the limit of the unit or container, and at net.ipv4.tcp_mem"
      return ("no memory for another socket", remedy)
    }
  }

  private func reportAccepting(at now: ContinuousClock.Instant) {
    switch acceptLog.withLock({ $0.line(for: accepting.count, at: now) }) {
    case nil: break
    case .ended(let count, let duration)?:
      logger.notice(
        "the system accepts connections again",
        metadata: ["attempts": "\(count)", "seconds": "\(duration.components.seconds)"])
    case .lasts(let count)?:
      logger.error(
        "the system refuses to accept connections, clients wait",
        metadata: [
          "error": "\(accepting.reason)", "attempts": "\(count)",
          "remedy": """
          see whether a security module (SELinux, AppArmor, seccomp) forbids accept4(2) to this process, and restart \
          cordon if nothing does
          """,
        ])
    }
  }

  private func reportMemory() {
    if let count = Self.increase(of: memory.unfinishedRefusals, since: loggedUnfinished) {
      logger.warning(
        "incomplete requests hold too much memory, ending the oldest",
        metadata: [
          "refused": "\(count)",
          "remedy": """
          if it goes on, set limits.clients.connections, shorten listen.timeouts.head and listen.timeouts.handshake, \
          or lower upstream.request_buffer
          """,
        ])
    }
    if let count = Self.increase(of: memory.unsentClosures, since: loggedUnsent) {
      logger.warning(
        "clients do not read their responses, closing the connections that hold most",
        metadata: [
          "closed": "\(count)",
          "remedy": """
          if it goes on, set limits.clients.connections, shorten listen.timeouts.write_progress, or switch HTTP/2 off \
          by listen.protocols
          """,
        ])
    }
    if let count = Self.increase(of: memory.unreadClosures, since: loggedUnread) {
      logger.warning(
        "request bodies wait for the application, closing the connections that hold most",
        metadata: [
          "closed": "\(count)",
          "remedy": """
          see why the application does not read what it is sent; if clients do this on purpose, set \
          limits.clients.connections, or switch HTTP/2 off by listen.protocols
          """,
        ])
    }
  }

  /// - Returns: nil if the count has not risen.
  private static func increase(of count: Int, since logged: borrowing Atomic<Int>) -> Int? {
    let before = logged.exchange(count, ordering: .relaxed)
    return count > before ? count - before : nil
  }
}
