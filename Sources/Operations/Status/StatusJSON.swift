internal import WebFormats

/// The report of `/status` as JSON: the same figures as on the page.
extension StatusReport {
  /// A JSON object with a final line feed. Rates are of the last minute, counts of the last hour, durations in seconds;
  /// `minutes` is the last hour, the oldest minute first, null where nothing was recorded.
  package func json() -> [UInt8] {
    let (minute, hour, recent) = (summary(ofLast: 60), summary(ofLast: 3_600), summary(ofLast: 300).counted.latency)
    var json = JSONWriter()
    json.object { json in
      json.string("status", health.summary.rawValue)
      json.string("site", site)
      json.string("version", version)
      json.string("time", now.description)
      json.string("started", started.description)
      json.number("requests_per_second", minute.rate)
      json.number("latency_p50", recent.quantile(0.5))
      json.number("latency_p99", recent.quantile(0.99))
      json.number("error_part", minute.errorPart)
      json.number("in_flight", Double(totals.inFlight))
      json.number("client_connections", Double(totals.connections))
      json.number("tunnels", Double(totals.tunnels))
      json.number("sessions_in_memory", Double(sessions))
      json.number("resident_bytes", process.residentBytes.map { Double($0) })
      people?.write("people", to: &json)
      json.object("hour") { Self.writeMembers(of: hour, to: &$0) }
      json.array("minutes") { json in for minute in minutes { Self.write(minute, to: &json) } }
      json.array("hosts") { json in for host in hosts { Self.write(host, to: &json) } }
      json.array("upstreams") { json in for upstream in upstreams { Self.write(upstream, to: &json) } }
      json.array("checks") { json in for check in health.checks { Self.write(check, to: &json) } }
      json.array("files") { json in for file in files { Self.write(file, to: &json) } }
    }
    return json.bytes + [0x0A]
  }

  private static func write(_ minute: Summary?, to json: inout JSONWriter) {
    guard let minute else { return json.null() }
    json.object { json in
      writeMembers(of: minute, to: &json)
      json.number("latency_p50", minute.counted.latency.quantile(0.5))
      json.number("latency_p99", minute.counted.latency.quantile(0.99))
    }
  }

  private static func write(_ host: Host, to json: inout JSONWriter) {
    json.object { json in
      json.string("name", host.name)
      json.string("upstream", host.upstream)
      json.number("requests", Double(host.requests))
    }
  }

  private static func write(_ upstream: Upstream, to json: inout JSONWriter) {
    json.object { json in
      json.string("name", upstream.name)
      json.string("address", upstream.address)
      json.string("state", upstream.state.rawValue)
      json.number("failures", Double(upstream.failures))
      json.number("ejections", Double(upstream.ejections))
    }
  }

  private static func write(_ check: HealthCheck, to json: inout JSONWriter) {
    json.object { json in
      json.string("name", check.name)
      json.string("status", check.status.rawValue)
      if let message = check.message { json.string("message", message) }
      if let since = check.since { json.string("since", since.description) }
    }
  }

  private static func write(_ file: DatedFile, to json: inout JSONWriter) {
    json.object { json in
      json.string("name", file.name)
      if let changed = file.changed { json.string("changed", changed.description) }
      if let expires = file.expires { json.string("expires", expires.description) }
    }
  }

  private static func writeMembers(of summary: Summary, to json: inout JSONWriter) {
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
