/// The data of the status page at one moment. Numbers, names and addresses of the configuration; nothing about any
/// user.
package struct StatusReport: Sendable {
  /// The moment of the report.
  package var now: Timestamp
  /// The version of the gateway.
  package var version: String
  /// The start of the process.
  package var started: Timestamp
  /// The application's host: that of `public_url`.
  package var site: String
  /// The checks of the gateway's dependencies.
  package var health: HealthReport
  /// The counters since the start.
  package var totals: StatusTotals
  /// The last hour, the oldest step first.
  package var steps: [StatusHistory.Step]
  /// The number of sessions in the caches of the event loops.
  package var sessions: Int
  /// Each host with its application: that of `public_url`, then each `[[host]]`.
  package var hosts: [Host]
  /// Each address of each application.
  package var upstreams: [Upstream]
  /// The certificates and keys that the configuration names.
  package var files: [DatedFile]
  /// The resource usage of the process.
  package var process: ProcessSample
  /// Nil before the first count.
  package var people: PeopleCounts?

  /// The numbers of one moment.
  package init(
    now: Timestamp, version: String, started: Timestamp, site: String, health: HealthReport, totals: StatusTotals,
    steps: [StatusHistory.Step], sessions: Int, hosts: [Host] = [], upstreams: [Upstream], files: [DatedFile],
    process: ProcessSample, people: PeopleCounts? = nil
  ) {
    self.now = now
    self.version = version
    self.started = started
    self.site = site
    self.health = health
    self.totals = totals
    self.steps = steps
    self.sessions = sessions
    self.hosts = hosts
    self.upstreams = upstreams
    self.files = files
    self.process = process
    self.people = people
  }

  /// A configured host.
  package struct Host: Sendable, Equatable {
    /// As browsers send it.
    package var name: String
    /// The upstream that serves it where no route states another one.
    package var upstream: String
    /// Requests since the start.
    package var requests: UInt64

    /// A host with its count.
    package init(name: String, upstream: String, requests: UInt64) {
      self.name = name
      self.upstream = upstream
      self.requests = requests
    }
  }

  /// One address of an application.
  package struct Upstream: Sendable, Equatable {
    /// The name of the upstream.
    package var name: String
    /// The address, for people.
    package var address: String
    /// The health of the address on all event loops together.
    package var state: State
    /// Requests that could not be sent, were not answered, or got a malformed response, since the start.
    package var failures: Int
    /// Ejections by outlier detection since the start, over all event loops.
    package var ejections: Int

    /// The health of an address.
    package enum State: String, Sendable {
      /// It has answered.
      case well
      /// Outlier detection sends it no requests for a while.
      case ejected
      /// It fails its health checks.
      case failing
      /// It has not answered since the start.
      case unknown
    }

    /// An address with its counts.
    package init(name: String, address: String, state: State, failures: Int, ejections: Int) {
      self.name = name
      self.address = address
      self.state = state
      self.failures = failures
      self.ejections = ejections
    }
  }

  /// A key or a certificate, without its contents.
  package struct DatedFile: Sendable, Equatable {
    /// The name: `Listener's certificate`.
    package var name: String
    /// When the file was last changed; nil if unknown.
    package var changed: Timestamp?
    /// When it expires; nil if it does not.
    package var expires: Timestamp?

    /// A file by its name for people, not by its path.
    package init(name: String, changed: Timestamp? = nil, expires: Timestamp? = nil) {
      self.name = name
      self.changed = changed
      self.expires = expires
    }
  }
}

extension StatusReport {
  /// A summary of the last minute or of the last hour.
  struct Summary: Sendable, Equatable {
    var counted = StatusTotals()
    /// The number of recorded seconds.
    var seconds = 0.0

    /// Requests a second.
    var rate: Double { seconds > 0 ? Double(counted.requests) / seconds : 0 }
    /// The fraction of responses with a status of 500 or more; nil without any.
    var errorPart: Double? {
      counted.requests > 0 ? Double(counted.serverErrors) / Double(counted.requests) : nil
    }
  }

  /// - Parameter seconds: how far back.
  func summary(ofLast seconds: Double) -> Summary {
    var summary = Summary()
    for step in steps where now.seconds - step.time.seconds < seconds { summary.add(step) }
    return summary
  }

  /// The hour in steps of a minute, the oldest first: nil for gaps.
  var minutes: [Summary?] {
    var minutes = [Summary?](repeating: nil, count: 60)
    for step in steps {
      let age = Int((now.seconds - step.time.seconds) / 60)
      guard (0..<60).contains(age) else { continue }
      var summary = minutes[59 - age] ?? Summary()
      summary.add(step)
      minutes[59 - age] = summary
    }
    return minutes
  }
}

extension StatusReport.Summary {
  fileprivate mutating func add(_ step: StatusHistory.Step) {
    seconds += step.seconds
    counted.add(step.counted)
  }
}
