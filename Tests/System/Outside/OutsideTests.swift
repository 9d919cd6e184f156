import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// The names that others rely on, recorded from the real binary: scripts call the commands, dashboards read the metrics,
// programs read the JSON, operators write the configuration, and the next version opens the database.
//
// Each `Outside/NAME.txt` is what the binary shows today. A line that disappears or changes breaks somebody: do not
// update a file to make the test pass. For an addition, `CORDON_UPDATE_GOLDEN=1` writes the files again; read the
// difference.

@SystemActor
@Suite("The names that others rely on")
struct OutsideTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let token = "a-token-of-the-tests-long-enough-to-be-one"

  /// Compares with the recorded file, line by line, so that a failure shows the lines in question.
  private func expect(
    _ lines: some Sequence<String>, in name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = Self.folder.appending(path: name)
    let found = Set(lines).sorted()
    if ProcessInfo.processInfo.environment["CORDON_UPDATE_GOLDEN"] == "1" {
      try Data((found.joined(separator: "\n") + "\n").utf8).write(to: file)
    }
    let recorded = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(!found.isEmpty, sourceLocation: sourceLocation)
    #expect(Set(recorded).subtracting(found).sorted() == [], "gone", sourceLocation: sourceLocation)
    #expect(Set(found).subtracting(recorded).sorted() == [], "not recorded", sourceLocation: sourceLocation)
  }

  private func cordon(_ arguments: [String], directory: String? = nil) throws -> String {
    let result = try ServerProcess.run(Machine.binary("cordon"), arguments, directory: directory)
    #expect(result.exit == .code(0), "\(arguments): \(result.standardError)")
    return result.standardOutput
  }

  // MARK: Without a gateway

  @Test("Every command and option is as recorded")
  func commands() throws {
    let dump = try JSONSerialization.jsonObject(with: Data(cordon(["--experimental-dump-help"]).utf8))
    let root = try #require((dump as? [String: Any])?["command"] as? [String: Any])
    var lines: [String] = []
    func note(_ command: [String: Any], under parent: String) {
      let name = parent + (command["commandName"] as? String ?? "?")
      lines.append(name)
      for argument in command["arguments"] as? [[String: Any]] ?? [] {
        let kind = argument["kind"] as? String ?? "?"
        let names = (argument["names"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
        let shown =
          names.isEmpty ? "<\(argument["valueName"] as? String ?? "?")>" : names.sorted().joined(separator: "|")
        lines.append("\(name) \(kind) \(shown)")
      }
      for child in command["subcommands"] as? [[String: Any]] ?? [] { note(child, under: name + " ") }
    }
    note(root, under: "")
    #expect(lines.count > 50)
    try expect(lines, in: "commands.txt")
  }

  @Test("Every key of the configuration and its default are as recorded")
  func configurationKeys() throws {
    var table = ""
    var lines: [String] = []
    for line in try cordon(["reference", "--sample"]).split(separator: "\n").map(String.init) {
      if let match = line.wholeMatch(of: /#?(\[\[?[a-z_.]+\]\]?)/) {
        table = String(match.1) + " "
      } else if let match = line.wholeMatch(of: /#?([a-z_]+) = (.*)/) {
        lines.append("\(table)\(match.1) = \(match.2)")
      }
    }
    #expect(lines.count > 100)
    try expect(lines, in: "configuration.txt")
  }

  // MARK: Names of a running gateway

  @Test("Metrics, JSON fields, paths, cookies and the database's schema are as recorded")
  func running() throws {
    let folder = try TemporaryDirectory()
    let file = try folder.write(Self.token + "\n", to: "admin.token")
    let site = try withExtendedLifetime(folder) {
      try Site(adjust: {
        $0["admin", "token_file"] = "\"\(file)\""
        $0["log", "format"] = "\"json\""
        $0["log", "access"] = "true"
      })
    }
    defer { site.stop() }
    let visitor = Visitor()
    try visitor.start(site)
    let begun = Set(visitor.jar.cookies.map(\.name))
    try visitor.decide(.proceed(user: "anna"))
    try visitor.carryBack()
    _ = try visitor.fetch(site.origin + "/")

    try expect(cookies(begun.union(visitor.jar.cookies.map(\.name))), in: "cookies.txt")
    try expect(paths(of: site), in: "paths.txt")
    try expect(metrics(site.gateway.admin.get("/metrics").text), in: "metrics.txt")
    try expect(documents(of: site, for: visitor), in: "json.txt")
    try expect(logFields(site), in: "log.txt")
    try expect(schema(of: site), in: "sqlite.txt")
  }

  @Test("The schema in PostgreSQL is as recorded")
  func postgreSQL() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try Site(adjust: { $0["store", "url"] = "\"\(url)\"" })
    defer { site.stop() }
    let schema = try server.query(
      """
      SELECT concat_ws(' ', 'table', table_name, column_name, data_type, is_nullable, column_default, collation_name)
      FROM information_schema.columns WHERE table_schema = 'cordon';
      SELECT 'index ' || indexname FROM pg_indexes WHERE schemaname = 'cordon';
      """, at: url)
    try expect(schema.split(separator: "\n").map(String.init), in: "postgresql.txt")
  }

  /// The names of the cookies; the name of an attempt ends in random characters.
  private func cookies(_ names: Set<String>) -> [String] {
    names.map { $0.replacing(#/attempt-.*/#, with: "attempt-*") }
  }

  /// The response to a stranger at each path of the gateway, on the public and on the admin listener.
  private func paths(of site: Site) throws -> [String] {
    var lines: [String] = []
    let own = [
      "sign-in", "authorize", "callback", "session", "sign-out", "account", "account/stop", "verify", "native",
      "native/exchange", "notifications", "keys", "button", "elsewhere",
    ]
    for path in own {
      for method in ["GET", "POST"] {
        let answer = try site.gateway.client.send(method, "/.auth/\(path)", body: method == "POST" ? [] : nil)
        lines.append("\(method) /.auth/\(path) \(answer.status)")
      }
    }
    for path in ["livez", "readyz", "healthz", "metrics", "status", "elsewhere"] {
      lines.append("GET /\(path) \(try site.gateway.admin.get("/\(path)").status)")
    }
    return lines
  }

  /// `name type {labels}` of each family.
  private func metrics(_ text: String) -> [String] {
    var types: [String: String] = [:]
    var labels: [String: Set<String>] = [:]
    for line in text.split(separator: "\n") {
      if let match = line.wholeMatch(of: /# TYPE (\S+) (\S+)/) {
        types[String(match.1)] = String(match.2)
      } else if let match = line.firstMatch(of: #/^([a-z0-9_]+)(?:\{(.*)\})? /#) {
        let sample = String(match.1)
        let part = ["_bucket", "_sum", "_count"].first { types[sample] == nil && sample.hasSuffix($0) } ?? ""
        let family = String(sample.dropLast(part.count))
        for label in (match.2 ?? "").matches(of: /([a-z_]+)="/) { labels[family, default: []].insert(String(label.1)) }
      }
    }
    return types.map { "\($0.key) \($0.value) {\(labels[$0.key, default: []].sorted().joined(separator: ","))}" }
  }

  /// The fields of each JSON document, by document.
  private func documents(of site: Site, for visitor: Visitor) throws -> [String] {
    let right = [("Authorization", "Bearer \(Self.token)")]
    let subject = try site.apple.subject(of: "anna")
    let signedIn = [("Cookie", try visitor.cookieHeader(for: site.origin + "/") ?? "")]
    let json = [("Accept", "application/json")]
    let answers: [(String, HTTPResponse)] = [
      ("session", try site.gateway.client.get("/.auth/session", fields: signedIn)),
      ("failure", try site.gateway.client.get("/", fields: json)),
      ("status", try site.gateway.admin.get("/status?format=json")),
      ("healthz", try site.gateway.admin.get("/healthz")),
      ("accounts", try site.gateway.admin.send("GET", "/accounts?subject=\(subject)", fields: right)),
      ("account sessions", try site.gateway.admin.send("GET", "/accounts/\(subject)/sessions", fields: right)),
    ]
    return try answers.flatMap { name, answer in
      let object = try JSONSerialization.jsonObject(with: Data(answer.body))
      return Self.fields(object).map { "\(name)\($0)" }
    }
  }

  /// The fields of each kind of line in the access log and the audit log.
  private func logFields(_ site: Site) throws -> [String] {
    let log = try poll("the lines about the signed-in request") {
      let log = site.gateway.log
      return log.firstRange(of: Array("\"user\"".utf8)) != nil && log.firstRange(of: Array("\"access\"".utf8)) != nil
        ? log : nil
    }
    return log.split(separator: 10).flatMap { line -> [String] in
      guard let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] else {
        return ["no JSON"]
      }
      guard let kind = object["kind"] as? String, kind != "event" else { return [] }
      let event = (object["event"] as? String).map { " " + $0 } ?? ""
      return object.keys.map { "\(kind)\(event) \($0)" }
    }
  }

  private static func fields(_ value: Any, at path: String = "") -> [String] {
    switch value {
    case let object as [String: Any]: object.flatMap { fields($0.value, at: "\(path).\($0.key)") }
    case let list as [Any]: list.isEmpty ? ["\(path)[]"] : list.flatMap { fields($0, at: path + "[]") }
    default: [path]
    }
  }

  private func schema(of site: Site) throws -> [String] {
    let program = """
      import sqlite3, sys
      database = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
      for (kind, name) in database.execute("SELECT type, name FROM sqlite_master").fetchall():
          print(kind, name)
          if kind == "table":
              for column in database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,)):
                  print("table", name, *column)
      """
    let done = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", program, "\(site.gateway.directory.path)/cordon.db"])
    #expect(done.exit == .code(0), "\(done.standardError)")
    return done.standardOutput.split(separator: "\n").map(String.init)
  }
}
