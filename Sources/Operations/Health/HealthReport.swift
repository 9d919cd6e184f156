internal import WebFormats

/// Every check at one moment, and the answers of the three probes.
///
/// - `/livez`: 200 as long as the process answers, also while draining; 503 while a check that gates liveness fails.
/// - `/readyz`: 503 while draining, and while a check that gates readiness is not ok, with its name.
/// - `/healthz`: every check, with the status of `/readyz`.
package struct HealthReport: Sendable, Equatable {
  /// Every check, in the order of display.
  package var checks: [HealthCheck]
  /// Whether the process shuts down: it finishes requests in flight and should get no new ones.
  package var isDraining: Bool

  /// Creates a report.
  package init(checks: [HealthCheck], isDraining: Bool = false) {
    self.checks = checks
    self.isDraining = isDraining
  }

  /// Whether requests should be sent here.
  package var isReady: Bool { !isDraining && !checks.contains { $0.keepsFromReadiness } }

  /// One word for people.
  package var summary: Summary {
    if isDraining { return .draining }
    if !isReady { return .failing }
    return checks.contains { $0.status == .failing } ? .degraded : .ok
  }

  /// The state of the gateway in one word.
  package enum Summary: String, Sendable {
    /// Requests are served, and no check fails.
    case ok
    /// Requests are served, but a check fails.
    case degraded
    /// The gateway is not ready: a check fails, or is unknown, that ``HealthCheck/Effect/gatesReadiness``.
    case failing
    /// The gateway is shutting down.
    case draining
  }

  /// The answer of `/livez`, with the names of the checks that keep it from 200, and the message of the first one.
  package func livez() -> HealthAnswer {
    let obstacles = checks.filter { $0.effect == .gatesLiveness && $0.status == .failing }
    guard !obstacles.isEmpty else { return HealthAnswer(status: 200, body: Self.ok) }
    return Self.refusal(obstacles, obstacles.lazy.compactMap(\.message).first)
  }

  /// The answer of `/readyz`, with the names of the checks that keep it from 200, and the message of the first one.
  package func readyz() -> HealthAnswer {
    let obstacles = checks.filter { $0.keepsFromReadiness }
    guard !isReady else { return HealthAnswer(status: 200, body: Self.ok) }
    return Self.refusal(obstacles, isDraining ? "shutting down" : obstacles.lazy.compactMap(\.message).first)
  }

  private static func refusal(_ obstacles: [HealthCheck], _ message: String?) -> HealthAnswer {
    var json = JSONWriter()
    json.object { json in
      json.string("status", "failing")
      json.array("checks") { json in for check in obstacles { json.string(nil, check.name) } }
      if let message { json.string("message", message) }
    }
    return HealthAnswer(status: 503, body: json.bytes + [UInt8(ascii: "\n")])
  }

  /// The answer of `/healthz`: a JSON object `{"status", "checks": [{"name", "status", "message", "since"}]}`.
  package func healthz() -> HealthAnswer { HealthAnswer(status: isReady ? 200 : 503, body: json()) }

  private static let ok = [UInt8]("{\"status\":\"ok\"}\n".utf8)

  /// With a line for each check, for people.
  private func json() -> [UInt8] {
    var body = [UInt8]("{\"status\":\"\(summary.rawValue)\",\"checks\":[".utf8)
    for (index, check) in checks.enumerated() {
      body.append(contentsOf: (index == 0 ? "\n" : ",\n").utf8)
      body.append(contentsOf: "{\"name\":".utf8)
      JSONString.append(check.name.utf8Span.span, to: &body)
      body.append(contentsOf: ",\"status\":\"\(check.status.rawValue)\"".utf8)
      if let message = check.message {
        body.append(contentsOf: ",\"message\":".utf8)
        JSONString.append(message.utf8Span.span, to: &body)
      }
      if let since = check.since {
        body.append(contentsOf: ",\"since\":\"".utf8)
        since.append(to: &body)
        body.append(UInt8(ascii: "\""))
      }
      body.append(UInt8(ascii: "}"))
    }
    body.append(contentsOf: "]}\n".utf8)
    return body
  }
}

extension HealthCheck {
  fileprivate var keepsFromReadiness: Bool { effect != .informs && status != .ok }
}

/// The response to a probe.
package struct HealthAnswer: Sendable, Equatable {
  /// 200 or 503.
  package var status: Int
  /// JSON with a final line feed.
  package var body: [UInt8]
  /// The media type of the body.
  package var contentType: String { "application/json" }

  /// Creates a response.
  package init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }
}
