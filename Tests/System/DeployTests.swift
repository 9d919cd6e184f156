import Foundation
import Testing

// What stands in deploy/, as far as it can be tried without an orchestrator. (`make check-deploy` has what needs tools
// from PyPI, `make test-deb` the Debian package.)
//
// - The unit leaves the gateway little to do harm with.
// - Alerts sound when they should and not otherwise; alerts and dashboard name metrics that the program really exposes,
//   in expressions that Prometheus can read.
// - The configurations of the Kubernetes shapes are in order; cordon ready says what the probes see.

@SystemActor
@Suite("Deployment")
struct DeployTests {
  private let deploy = Machine.packageRoot.appending(path: "deploy")

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
    let gateway = try GatewayProcess(
      GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)", apple: "http://127.0.0.1:9"))
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
    let gateway = try GatewayProcess(
      GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)", apple: "http://127.0.0.1:9"))
    let ready = try ServerProcess.run(Machine.binary("cordon"), ["ready", "--config", gateway.file])
    #expect(ready.exit == .code(0), "\(ready.standardError)")
    gateway.stop()
    let gone = try ServerProcess.run(Machine.binary("cordon"), ["ready", "--config", gateway.file])
    #expect(gone.exit == .code(1))
  }
}
