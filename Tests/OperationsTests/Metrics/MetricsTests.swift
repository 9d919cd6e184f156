import Foundation
import Testing

@testable import Operations

@Suite("Metrics")
struct MetricsTests {
  private let registry = MetricsRegistry(version: "1.2.3", startTime: Timestamp(microseconds: 1_500_000))

  private func read(_ process: ProcessSample = ProcessSample()) throws -> ExpositionFormat {
    try ExpositionFormat(registry.render(process: process))
  }

  @Test("Metrics without any count are valid text, with 0 for expected series")
  func empty() throws {
    let text = try read()
    #expect(text.value("cordon_sign_ins_total", ["outcome": "success"]) == 0)
    #expect(text.value("cordon_requests_in_flight") == 0)
    #expect(text.value("cordon_build_info", ["version": "1.2.3"]) == 1)
    #expect(text.value("process_start_time_seconds") == 1.5)
    #expect(text.value("cordon_upstream_failures_total", ["reason": "refused"]) == 0)
  }

  @Test("Requests are counted by route and status, summed over loops")
  func requests() throws {
    let (one, two) = (registry.makeRequestRecorder(), registry.makeRequestRecorder())
    for recorder in [one, two] {
      recorder.requestStarted()
      recorder.requestStarted()
      recorder.requestFinished(route: .signedIn, status: 200, nanoseconds: 3_000_000, bytesIn: 10, bytesOut: 20)
    }
    two.requestFinished(route: .refused, status: 599, nanoseconds: 20_000_000_000, bytesIn: 1, bytesOut: 2)
    let text = try read()
    #expect(text.value("cordon_requests_total", ["route": "signed-in", "code": "200"]) == 2)
    #expect(text.value("cordon_requests_total", ["route": "refused", "code": "599"]) == 1)
    #expect(text.value("cordon_requests_in_flight") == 1)
    #expect(text.value("cordon_request_bytes_total") == 21)
    #expect(text.value("cordon_response_bytes_total") == 42)
    let seconds = "cordon_request_duration_seconds"
    #expect(text.value(seconds + "_bucket", ["route": "signed-in", "le": "0.0025"]) == 0)
    #expect(text.value(seconds + "_bucket", ["route": "signed-in", "le": "0.005"]) == 2)
    #expect(text.value(seconds + "_sum", ["route": "signed-in"]) == 0.006)
    #expect(text.value(seconds + "_bucket", ["route": "refused", "le": "10"]) == 0)
    #expect(text.value(seconds + "_count", ["route": "refused"]) == 1)
  }

  @Test("An invalid status counts as 0, and never traps", arguments: [0, -1, 99, 600, .max, .min])
  func strangeStatus(status: Int) throws {
    registry.makeRequestRecorder().requestFinished(route: .verify, status: status, nanoseconds: .max, bytesIn: .max)
    #expect(try read().value("cordon_requests_total", ["route": "verify", "code": "0"]) == 1)
  }

  @Test("Every kind of route and every status has a counter of its own")
  func distinct() throws {
    let recorder = registry.makeRequestRecorder()
    for route in RouteLabel.allCases {
      for status in 100..<600 { recorder.requestFinished(route: route, status: status, nanoseconds: 0) }
    }
    let samples = try read().families["cordon_requests_total"]?.samples ?? []
    #expect(samples.count == RouteLabel.allCases.count * 500)
    #expect(samples.allSatisfy { $0.value == 1 })
  }

  @Test("Each bound belongs to its own bucket, as Prometheus has it")
  func bounds() {
    for (index, bound) in LatencyHistogram.bounds.enumerated() {
      let histogram = LatencyHistogram()
      histogram.record(nanoseconds: UInt64((bound * 1e9).rounded()))
      histogram.record(nanoseconds: UInt64((bound * 1e9).rounded()) + 1)
      var snapshot = LatencyHistogram.emptySnapshot
      histogram.add(to: &snapshot)
      #expect(snapshot.counts[index] == 1 && snapshot.counts[index + 1] == 1, "\(bound)")
    }
  }

  @Test("No count is lost when many loops count at once, while others read")
  func concurrent() async throws {
    let registry = registry
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let recorder = registry.makeRequestRecorder()
          for index in 0..<5_000 {
            recorder.requestStarted()
            recorder.requestFinished(route: .open, status: 200 + index % 2, nanoseconds: 1_000)
            if index % 100 == 0 { registry.checks.count("good") }
            if index % 1_000 == 0 { _ = registry.render(process: ProcessSample()) }
          }
        }
      }
    }
    let text = try read()
    #expect(text.value("cordon_requests_total", ["route": "public", "code": "200"]) == 20_000)
    #expect(text.value("cordon_requests_total", ["route": "public", "code": "201"]) == 20_000)
    #expect(text.value("cordon_requests_in_flight") == 0)
    #expect(text.value("cordon_checks_total", ["verdict": "good"]) == 400)
  }

  @Test("Connections are counted as they open, wait and close")
  func connections() throws {
    let recorder = registry.makeConnectionRecorder()
    recorder.clientAccepted()
    recorder.clientAccepted()
    recorder.clientClosed()
    for _ in 0..<2 { recorder.clientHandshakeFailed(.certificateRejected) }
    recorder.clientHandshakeFailed(.proxyHeader)
    recorder.clientFailed(.enhanceYourCalm)
    for _ in 0..<3 { recorder.upstreamConnected(nanoseconds: 400_000) }
    recorder.upstreamDisconnected()
    recorder.upstreamFailed(.connectTimeout)
    let text = try read()
    #expect(text.value("cordon_client_connections_open") == 1)
    #expect(text.value("cordon_client_connections_total") == 2)
    #expect(text.value("cordon_client_handshake_failures_total", ["reason": "certificate_rejected"]) == 2)
    #expect(text.value("cordon_client_handshake_failures_total", ["reason": "proxy_header"]) == 1)
    #expect(text.value("cordon_client_handshake_failures_total", ["reason": "plain_http"]) == 0)
    let handshakes = try #require(text.families["cordon_client_handshake_failures_total"]).samples
    #expect(handshakes.count == HandshakeFailureReason.allCases.count)
    #expect(text.value("cordon_client_http2_errors_total", ["code": "enhance_your_calm"]) == 1)
    #expect(text.value("cordon_client_http2_errors_total", ["code": "protocol_error"]) == 0)
    #expect(text.value("cordon_upstream_connections_open") == 2)
    #expect(text.value("cordon_upstream_connects_total") == 3)
    #expect(text.value("cordon_upstream_connect_seconds_count") == 3)
    #expect(text.value("cordon_upstream_failures_total", ["reason": "connect_timeout"]) == 1)
  }

  @Test("Tunnels and the time to the upstream's first byte are measured")
  func tunnels() throws {
    let recorder = registry.makeRequestRecorder()
    recorder.tunnelOpened()
    recorder.tunnelOpened()
    recorder.tunnelClosed()
    recorder.upstreamAnswered(nanoseconds: 2_000_000_000)
    let text = try read()
    #expect(text.value("cordon_tunnels_open") == 1)
    #expect(text.value("cordon_upstream_response_seconds_sum") == 2)
  }

  @Test("Rare events are counted by their labels")
  func rareEvents() throws {
    registry.signIns.count("nonce_mismatch")
    registry.appleCalls.count("token", "invalid_grant")
    registry.appleCallDurations.record("token", seconds: 0.3)
    registry.appleCallDurations.record("token", seconds: .nan)
    registry.notifications.count("consent-revoked")
    #expect(registry.signIns.total("nonce_mismatch") == 1)
    let text = try read()
    #expect(text.value("cordon_sign_ins_total", ["outcome": "nonce_mismatch"]) == 1)
    #expect(text.value("cordon_apple_calls_total", ["endpoint": "token", "outcome": "invalid_grant"]) == 1)
    #expect(text.value("cordon_apple_call_duration_seconds_bucket", ["endpoint": "token", "le": "0.2"]) == 1)
    #expect(text.value("cordon_apple_call_duration_seconds_count", ["endpoint": "token"]) == 2)
    #expect(text.value("cordon_notifications_total", ["type": "consent-revoked", "outcome": ""]) == 1)
  }

  @Test("Foreign text makes at most a hundred series, and stays inside its label")
  func boundedSeries() throws {
    for index in 0..<1_000 {
      registry.signIns.count("\"} 1\nfake_\(index)\\")
      registry.appleCallDurations.record("e\(index)", seconds: 1)
    }
    let text = try read()
    #expect((text.families["cordon_sign_ins_total"]?.samples.count ?? 0) <= Counter.seriesLimit + 1)
    #expect((text.value("cordon_sign_ins_total", ["outcome": "other"]) ?? 0) >= 900)
    #expect(text.value("cordon_sign_ins_total", ["outcome": "\"} 1\nfake_0\\"]) == 1)
    let durations = text.families["cordon_apple_call_duration_seconds"]?.samples.filter { $0.name.hasSuffix("_count") }
    #expect((durations?.count ?? 0) <= Counter.seriesLimit + 1)
  }

  @Test("A gauge is asked each time; nil leaves it out, and a second one of the name is ignored")
  func gauges() throws {
    registry.addGauge("cordon_sessions_in_memory", help: "Sessions in memory.") { 42 }
    registry.addGauge("cordon_sessions_in_memory", help: "Another.") { 43 }
    registry.addGauge("cordon_absent", help: "Nothing.") { nil }
    registry.addGauge("cordon_odd", help: "Back\\slash\nand line.") { -.infinity }
    let text = try read()
    #expect(text.value("cordon_sessions_in_memory") == 42)
    #expect(text.families["cordon_absent"] == nil)
    #expect(text.value("cordon_odd") == -.infinity)
  }

  @Test("The metrics contain memory, time and descriptors of the process")
  func process() throws {
    let sample = ProcessSample.current()
    #expect((sample.residentBytes ?? 0) > 1_000_000)
    #expect((sample.cpuSeconds ?? 0) > 0)
    #expect((sample.openDescriptors ?? 0) >= 3)
    #expect((sample.maximumDescriptors ?? 0) >= (sample.openDescriptors ?? .max))
    let text = try read(sample)
    #expect(text.value("process_resident_memory_bytes") == sample.residentBytes.map { Double($0) })
    #expect(text.value("process_open_fds") == sample.openDescriptors.map { Double($0) })
  }

  @Test("The time of the configuration is that of the last reload that was applied, also if a members file was kept")
  func reloadTime() throws {
    let (time, success) = ("cordon_config_last_success_timestamp_seconds", "cordon_config_last_reload_successful")
    #expect(try read().value(time) == 1.5)
    registry.reloads.record(isApplied: true, areMembersGood: true, at: Timestamp(microseconds: 2_000_000))
    #expect(try read().value(time) == 2)
    registry.reloads.record(isApplied: true, areMembersGood: false, at: Timestamp(microseconds: 3_000_000))
    #expect(try read().value(time) == 3)
    #expect(try read().value(success) == 0)
    registry.reloads.record(isApplied: false, areMembersGood: true, at: Timestamp(microseconds: 4_000_000))
    #expect(try read().value(time) == 3)
    let text = try read()
    #expect(text.value("cordon_config_reloads_total", ["result": "ok"]) == 1)
    #expect(text.value("cordon_config_reloads_total", ["result": "refused"]) == 2)
  }

  @Test("Requests are counted by configured host, whose number stays over reloads; too many hosts share the last")
  func hosts() throws {
    let recorder = registry.makeRequestRecorder()
    let numbers = registry.hostNumbers(of: ["app.example.com", "wiki.example.com"])
    recorder.requestFinished(route: .signedIn, status: 200, nanoseconds: 1, host: numbers[0])
    recorder.requestFinished(route: .signedIn, status: 200, nanoseconds: 1, host: numbers[1])
    #expect(registry.hostNumbers(of: ["other.example.com", "wiki.example.com"])[1] == numbers[1])
    registry.makeRequestRecorder().requestFinished(route: .open, status: 200, nanoseconds: 1, host: numbers[1])
    let text = try read(.current())
    #expect(text.value("cordon_host_requests_total", ["host": "app.example.com"]) == 1)
    #expect(text.value("cordon_host_requests_total", ["host": "wiki.example.com"]) == 2)
    #expect(text.value("cordon_host_requests_total", ["host": "other.example.com"]) == 0)
    let many = registry.hostNumbers(of: (0..<2_000).map { "h\($0).example.com" })
    #expect(many.allSatisfy { (0..<RequestRecorder.hostLimit).contains($0) } && many[1_998] == many[1_999])
    recorder.requestFinished(route: .open, status: 200, nanoseconds: 1, host: many[1_999])
    recorder.requestFinished(route: .open, status: 200, nanoseconds: 1, host: .max)
    #expect(registry.hostRequests().last?.host == "other" && registry.hostRequests().last?.requests == 1)
  }

  private static let promtool = "/usr/bin/promtool"

  @Test(
    "Prometheus's own tool finds nothing wrong", .enabled(if: FileManager.default.isExecutableFile(atPath: promtool)))
  func prometheus() throws {
    let recorder = registry.makeRequestRecorder()
    recorder.requestStarted()
    recorder.requestFinished(route: .signedIn, status: 200, nanoseconds: 3_000_000, bytesIn: 10, bytesOut: 20)
    registry.makeConnectionRecorder().upstreamConnected(nanoseconds: 1)
    registry.signIns.count("odd \"outcome\"\n")
    registry.addGauge("cordon_sessions_in_memory", help: "Sessions in memory.") { 42 }
    let tool = Process()
    tool.executableURL = URL(fileURLWithPath: Self.promtool)
    tool.arguments = ["check", "metrics"]
    let (input, output) = (Pipe(), Pipe())
    (tool.standardInput, tool.standardOutput, tool.standardError) = (input, output, output)
    try tool.run()
    try input.fileHandleForWriting.write(contentsOf: Data(registry.render(process: .current())))
    try input.fileHandleForWriting.close()
    let complaints = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    tool.waitUntilExit()
    #expect(tool.terminationStatus == 0, "\(complaints)")
    #expect(complaints.isEmpty)
  }
}
