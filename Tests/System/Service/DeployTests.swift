import Foundation
import TemporaryDirectoryTesting
import Testing

// What stands in deploy/, as far as it can be tried without an orchestrator. (`make check-deploy` has what needs tools
// from PyPI, `make test-deb` the Debian package.)
//
// - The unit leaves the gateway little to do harm with.
// - Alerts sound when they should and not otherwise, from the first event on; alerts and dashboard name metrics that
//   the program really exposes, in expressions that Prometheus can read.
// - The configurations of the Kubernetes shapes are in order; cordon ready says what the probes see.

@SystemActor
@Suite("Deployment")
struct DeployTests {
  private let deploy = Machine.packageRoot.appending(path: "deploy")

  @Test("systemd finds no fault with the units")
  func units() throws {
    let directory = try TemporaryDirectory()
    for name in ["cordon.service", "cordon.socket"] {
      let text = try String(contentsOf: deploy.appending(path: name), encoding: .utf8)
      // The program is installed nowhere on this machine.
      try directory.write(text.replacing("/usr/bin/cordon", with: Machine.binary("cordon")), to: name)
    }
    let verified = try ServerProcess.run(
      Machine.program("systemd-analyze", package: "systemd"),
      ["verify", "--man=no", "\(directory.path)/cordon.service", "\(directory.path)/cordon.socket"])
    #expect(verified.exit == .code(0), "\(verified.standardError)")
    #expect(!verified.standardError.contains("cordon."), "\(verified.standardError)")
  }

  @Test("The image is built of what the ignore file lets through")
  func imageSources() throws {
    let folder = deploy.appending(path: "container")
    let dockerfile = try String(contentsOf: folder.appending(path: "Dockerfile"), encoding: .utf8)
    let copied = dockerfile.split(separator: "\n").filter { $0.hasPrefix("COPY ") && !$0.contains("--from=") }
      .flatMap { $0.split(separator: " ").dropFirst().dropLast() }
    let ignore = try String(contentsOf: folder.appending(path: "Dockerfile.dockerignore"), encoding: .utf8)
    let admitted = ignore.split(separator: "\n").filter { $0.hasPrefix("!") }.map { $0.dropFirst() }
    #expect(copied.count > 4 && ignore.hasPrefix("*\n"))
    for source in copied {
      #expect(admitted.contains(source), "\(source)")
      #expect(FileManager.default.fileExists(atPath: Machine.packageRoot.appending(path: String(source)).path))
    }
  }

  @Test(
    "Service managers wait for the whole shutdown: its limit, seven seconds more, and a delay before it",
    arguments: [
      ("cordon.service", "TimeoutStopSec=", 0), ("container/compose.yaml", "stop_grace_period: ", 0),
      ("container/Dockerfile", "docker stop --time ", 0),
      ("kubernetes/base/deployment.yaml", "terminationGracePeriodSeconds: ", 5),
      ("helm/cordon/templates/deployment.yaml", "terminationGracePeriodSeconds: ", 5),
    ])
  func stopTimes(file: String, setting: String, delay: Int) throws {
    let text = try String(contentsOf: deploy.appending(path: file), encoding: .utf8)
    let place = try #require(text.range(of: setting))
    let seconds = try #require(Int(text[place.upperBound...].prefix { $0.isNumber }))
    #expect(seconds >= delay + 25 + 7)
  }

  @Test("systemd leaves out no line of the service's log: the gateway limits what strangers can cause")
  func logRate() throws {
    let text = try String(contentsOf: deploy.appending(path: "cordon.service"), encoding: .utf8)
    #expect(text.split(separator: "\n").contains("LogRateLimitIntervalSec=0"))
  }

  @Test("The unit's exposure is 1.5 or less")
  func exposure() throws {
    let report = try ServerProcess.run(
      Machine.program("systemd-analyze", package: "systemd"),
      ["security", "--offline=true", "--no-pager", deploy.appending(path: "cordon.service").path])
    let overall = report.standardOutput.split(separator: "\n").last { $0.contains("Overall exposure level") }
    let score = overall?.split(separator: ":").last?.split(separator: " ").first.flatMap { Double($0) }
    #expect(try #require(score) <= 1.5)
  }

  @Test("Each alert sounds for its trouble, and none while all is well")
  func alerts() throws {
    let promtool = try Machine.program("promtool", package: "prometheus")
    let folder = deploy.appending(path: "monitoring").path
    let check = try ServerProcess.run(promtool, ["check", "rules", "alerts.yaml"], directory: folder)
    #expect(check.exit == .code(0), "\(check.standardOutput)\(check.standardError)")
    let tests = try ServerProcess.run(promtool, ["test", "rules", "alerts.test.yaml"], directory: folder)
    #expect(tests.exit == .code(0), "\(tests.standardOutput)\(tests.standardError)")
  }

  @Test("Every metric that an alert or the dashboard names is one that the program exposes")
  func metricNames() throws {
    let upstream = try RawUpstream(RawUpstream.greet)
    defer { upstream.stop() }
    // With a certificate, whose expiry is a metric.
    let folder = try TLSFolder()
    defer { withExtendedLifetime(folder) {} }
    let gateway = try folder.gateway(before: upstream)
    defer { gateway.stop() }
    let exposed = try HTTPClient(port: gateway.configuration.adminPort).get("/metrics").text
    var known: Set<String> = []
    for line in exposed.split(separator: "\n") where line.hasPrefix("# TYPE ") {
      let words = line.split(separator: " ")
      guard words.count == 4 else { continue }
      let endings = words[3] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
      known.formUnion(endings.map { words[2] + $0 })
    }
    for file in ["monitoring/alerts.yaml", "monitoring/dashboard.json"] {
      let text = try String(contentsOf: deploy.appending(path: file), encoding: .utf8)
      let named = text.matches(of: /\b(?:cordon|process)_[a-z_]+\b/).map { String($0.output) }
      #expect(named.count > 10, "\(file)")
      #expect(Set(named).subtracting(known) == [], "\(file)")
    }
  }

  @Test("Every series that the tests of the alerts begin with is one that the program exposes from its start")
  func firstSamples() throws {
    let upstream = try RawUpstream(RawUpstream.greet)
    defer { upstream.stop() }
    let gateway = try GatewayProcess(GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)"))
    defer { gateway.stop() }
    let exposed = try Set(gateway.admin.get("/metrics").text.split(separator: "\n").compactMap(Self.series))
    let text = try String(contentsOf: deploy.appending(path: "monitoring/alerts.test.yaml"), encoding: .utf8)
    let named = Set(text.matches(of: /series: '(cordon_[^']*)'/).compactMap { Self.series("\($0.1) 0") })
    #expect(named.count > 12)
    // What depends on the configuration, and what is not a problem.
    let others = named.filter { series in
      !series.contains { $0.hasPrefix("address=") || $0.hasPrefix("listener=") || $0 == "code=\"200\"" }
    }
    #expect(others.subtracting(exposed) == [])
  }

  /// The name of a sample's series, and its labels without `instance`.
  private static func series(_ line: Substring) -> Set<String>? { series(String(line)) }

  private static func series(_ line: String) -> Set<String>? {
    guard let match = line.firstMatch(of: #/^([a-z_]+)(?:\{(.*)\})? /#) else { return nil }
    let labels = (match.2 ?? "").matches(of: /[a-z_]+="[^"]*"/).map { String($0.output) }
    return Set(labels.filter { !$0.hasPrefix("instance=") } + [String(match.1)])
  }

  @Test("Prometheus can read every expression of the dashboard")
  func dashboard() throws {
    let dashboard = try JSONSerialization.jsonObject(
      with: Data(contentsOf: deploy.appending(path: "monitoring/dashboard.json")))
    #expect((dashboard as? [String: Any])?["title"] as? String == "Cordon")
    let expressions = Self.values(of: "expr", in: dashboard)
    #expect(expressions.count > 15)
    // As rules, with a value for each variable of Grafana's.
    let rules = expressions.enumerated().map { place, expression in
      let text = expression.replacing(/\$__[a-z_]+/, with: "5m").replacing(/\$[a-z]+/, with: "x")
        .replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return "  - record: dashboard:\(place)\n    expr: \"\(text)\"\n"
    }
    let directory = try TemporaryDirectory()
    try directory.write("groups:\n- name: dashboard\n  rules:\n\(rules.joined())", to: "rules.yaml")
    let check = try ServerProcess.run(
      Machine.program("promtool", package: "prometheus"), ["check", "rules", "rules.yaml"], directory: directory.path)
    #expect(check.exit == .code(0), "\(check.standardOutput)\(check.standardError)")
  }

  /// Every text that stands under this key, however deep.
  private static func values(of key: String, in json: Any) -> [String] {
    switch json {
    case let object as [String: Any]:
      object.flatMap { $0.key == key ? [$0.value as? String].compactMap(\.self) : values(of: key, in: $0.value) }
    case let list as [Any]: list.flatMap { values(of: key, in: $0) }
    default: []
    }
  }

  @Test("The configurations of the Kubernetes shapes are in order", arguments: ["sidecar", "gateway"])
  func kubernetes(shape: String) throws {
    let directory = try TemporaryDirectory()
    let text = try String(contentsOf: deploy.appending(path: "kubernetes/\(shape)/gateway.conf"), encoding: .utf8)
    try directory.write(
      text.replacingOccurrences(of: "/etc/cordon/secrets/", with: ""), to: "gateway.conf")
    try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey.p8")
    try directory.write(GatewayConfiguration.sessionSecret, to: "session.key")
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", "gateway.conf"], environment: ["STORE_PASSWORD": "word"],
      directory: directory.path)
    #expect(check.exit == .code(0), "\(check.standardOutput)")
  }

  @Test("cordon ready says whether the gateway takes requests, by its exit status")
  func ready() throws {
    let upstream = try RawUpstream(RawUpstream.greet)
    defer { upstream.stop() }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    let directory = try TemporaryDirectory()
    let token = try directory.write(String(repeating: "0123456789abcdef", count: 3), to: "token")
    configuration["admin", "token_file"] = "\"\(token)\""
    let gateway = try GatewayProcess(configuration)
    // Health needs no token: an orchestrator would end a gateway for a file that somebody changed beside it.
    try FileManager.default.removeItem(atPath: token)
    for arguments in [["ready"], ["ready", "--live"]] {
      let ready = try ServerProcess.run(Machine.binary("cordon"), arguments + ["--config", gateway.file])
      #expect(ready.exit == .code(0), "\(ready.standardError)")
    }
    // One that does not answer is noticed soon: an orchestrator gives a health check some seconds.
    try gateway.process.standStill()
    let asked = ContinuousClock.now
    let stopped = try ServerProcess.run(Machine.binary("cordon"), ["ready", "--live", "--config", gateway.file])
    #expect(stopped.exit == .code(1) && stopped.standardError.contains("did not answer"), "\(stopped.standardError)")
    #expect(ContinuousClock.now - asked < .seconds(60))
    gateway.process.signal(SIGCONT)
    gateway.stop()
    let gone = try ServerProcess.run(Machine.binary("cordon"), ["ready", "--config", gateway.file])
    #expect(gone.exit == .code(1))
  }
}
