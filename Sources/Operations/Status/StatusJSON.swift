/// `/status` for programs: the same as the page shows.
extension StatusReport {
  /// A JSON object with a final line feed. Rates are of the last minute, counts of the last hour, durations in seconds;
  /// `minutes` is the last hour, the oldest minute first, null where nothing was seen.
  package func json() -> [UInt8] {
    let (minute, hour, recent) = (summary(ofLast: 60), summary(ofLast: 3_600), summary(ofLast: 300).counted.latency)
    var json = JSONLine()
    json.open()
    json.text("status", health.summary.rawValue)
    json.text("site", site)
    json.text("version", version)
    json.time("time", now)
    json.time("started", started)
    json.number("requests_per_second", minute.rate)
    json.number("latency_p50", recent.quantile(0.5))
    json.number("latency_p99", recent.quantile(0.99))
    json.number("error_part", minute.errorPart)
    json.number("in_flight", Double(totals.inFlight))
    json.number("client_connections", Double(totals.connections))
    json.number("tunnels", Double(totals.tunnels))
    json.number("sessions_in_memory", Double(sessions))
    json.number("resident_bytes", process.residentBytes.map { Double($0) })
    json.open("hour")
    Self.write(hour, to: &json)
    json.close()
    json.list("minutes") { json in
      for minute in minutes {
        guard let minute else {
          json.null()
          continue
        }
        json.open()
        Self.write(minute, to: &json)
        json.number("latency_p50", minute.counted.latency.quantile(0.5))
        json.number("latency_p99", minute.counted.latency.quantile(0.99))
        json.close()
      }
    }
    json.list("upstreams") { json in
      for upstream in upstreams {
        json.open()
        json.text("name", upstream.name)
        json.text("address", upstream.address)
        json.text("state", upstream.state.rawValue)
        json.number("failures", Double(upstream.failures))
        json.number("ejections", Double(upstream.ejections))
        json.close()
      }
    }
    json.list("checks") { json in
      for check in health.checks {
        json.open()
        json.text("name", check.name)
        json.text("status", check.status.rawValue)
        if let message = check.message { json.text("message", message) }
        if let since = check.since { json.time("since", since) }
        json.close()
      }
    }
    json.list("files") { json in
      for file in files {
        json.open()
        json.text("name", file.name)
        if let changed = file.changed { json.time("changed", changed) }
        if let expires = file.expires { json.time("expires", expires) }
        json.close()
      }
    }
    json.close()
    return json.bytes + [0x0A]
  }

  private static func write(_ summary: Summary, to json: inout JSONLine) {
    let counted = summary.counted
    json.number("seconds", summary.seconds)
    for (name, count) in [
      ("requests", counted.requests), ("client_errors", counted.clientErrors), ("server_errors", counted.serverErrors),
      ("apple_answered", counted.appleAnswered), ("apple_failed", counted.appleFailed), ("sign_ins", counted.signIns),
      ("sign_ins_failed", counted.signInsFailed), ("sessions_ended", counted.sessionsEnded),
      ("checks_good", counted.checksGood), ("checks_other", counted.checksOther),
    ] {
      json.number(name, Double(count))
    }
  }
}

/// Writes JSON (RFC 8259), member by member.
private struct JSONLine {
  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  mutating func open(_ name: String? = nil) {
    begin(name)
    bytes.append(UInt8(ascii: "{"))
    isFirst = true
  }

  mutating func close() {
    bytes.append(UInt8(ascii: "}"))
    isFirst = false
  }

  mutating func list(_ name: String, _ elements: (inout JSONLine) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    isFirst = true
    elements(&self)
    bytes.append(UInt8(ascii: "]"))
    isFirst = false
  }

  mutating func text(_ name: String, _ value: String) {
    begin(name)
    EscapedText.append(value.utf8Span.span, quoted: true, to: &bytes)
  }

  mutating func time(_ name: String, _ value: Timestamp) {
    begin(name)
    bytes.append(UInt8(ascii: "\""))
    value.append(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func number(_ name: String, _ value: Double?) {
    begin(name)
    guard let value, value.isFinite else {
      bytes += "null".utf8
      return
    }
    bytes += (Int64(exactly: value).map { "\($0)" } ?? "\(value)").utf8
  }

  mutating func null() {
    begin(nil)
    bytes += "null".utf8
  }

  private mutating func begin(_ name: String?) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    guard let name else { return }
    EscapedText.append(name.utf8Span.span, quoted: true, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }
}
