import Foundation
import TemporaryDirectoryTesting
import Testing

// The command and its configuration.
//
// - check: a good file is valid, of a bad one every problem is told at once, each with its place and remedy; exit 78.
// - run refuses what check refuses. Usage errors exit 64. Missing files are told, secrets never.
// - Secrets come from the environment too; relative paths are relative to the file.
// - reference prints every fixed key; keygen makes a secret that is good.

@SystemActor
@Suite("The command and its configuration")
struct ConfigurationTests {
  private let directory: TemporaryDirectory
  private let good: GatewayConfiguration

  init() throws {
    directory = try TemporaryDirectory()
    good = try GatewayConfiguration(upstream: "http://127.0.0.1:3000")
  }

  /// Runs the command, and answers how it ended and everything it said.
  private func cordon(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (exit: ServerProcess.Exit, text: String) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), arguments, environment: environment, directory: directory.path)
    return (result.exit, result.standardOutput + result.standardError)
  }

  /// The lines of `check` that name a place: line number and the rest.
  private func problems(_ text: String, file: String) -> [(line: Int, text: String)] {
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
      guard line.hasPrefix(file + ":") || line.hasPrefix("gateway.conf:"), parts.count == 4,
        let number = Int(parts[1]), Int(parts[2]) != nil
      else { return nil }
      return (number, parts[3].trimmingCharacters(in: .whitespaces))
    }
  }

  @Test("check finds nothing in a good file")
  func goodFile() throws {
    let file = try good.install(in: directory)
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(0), "\(result.text)")
    #expect(result.text.contains("\n\nThe configuration is valid.\n"), "\(result.text)")
    // The same file by a relative path, its keys beside it.
    #expect(try cordon(["check", "--config", "gateway.conf"]).exit == .code(0))
  }

  @Test("check tells every problem at once, each with file, line, column and remedy, and exits 78")
  func everyProblem() throws {
    var bad = good
    bad["upstream", "url"] = "\"ftp://example.com\""
    bad["session", "lifetime"] = "\"3 fortnights\""
    bad["listen", "adress"] = "\"0.0.0.0:1\""
    bad["apple", "response_mode"] = "\"query\""
    bad["apple", "team_id"] = "7"
    bad.ending = "[[route]]\npath = \"no-slash\"\naccess = \"sometimes\"\n"
    let file = try bad.install(in: directory)
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(78))
    let lines = bad.text.components(separatedBy: "\n")
    let found = problems(result.text, file: file)
    for key in ["url = \"ftp", "lifetime", "adress", "team_id", "path = \"no", "access = \"some"] {
      let line = try #require(lines.firstIndex { $0.contains(key) }) + 1
      #expect(found.contains { $0.line == line }, "line \(line), \(key), in:\n\(result.text)")
    }
    #expect(found.contains { $0.text.contains("adress") && $0.text.contains("address") }, "the nearest key is named")
  }

  @Test("check warns of a host that no certificate of a TLS listener is for")
  func uncoveredHosts() throws {
    let folder = try TLSFolder()
    let upstream = try RawUpstream(RawUpstream.greet)
    defer { upstream.stop() }
    let gateway = try folder.gateway(before: upstream) {
      $0["listen", "hosts"] = nil
      $0.ending = """
        [[listen.certificate]]
        certificate_file = "\(folder.path)/two.pem"
        private_key_file = "\(folder.path)/two.key"
        [[host]]
        name = "one.test"
        [[host]]
        name = "two.test"
        [[host]]
        name = "three.test"

        """
    }
    defer { gateway.stop() }
    let result = try cordon(["check", "--config", gateway.file])
    #expect(result.exit == .code(0), "\(result.text)")
    let warnings = result.text.split(separator: "\n").filter { $0.contains("no certificate") }
    #expect(warnings.count == 1 && warnings.first?.contains("three.test") == true, "\(result.text)")
  }

  @Test("run refuses what check refuses, with the same words, and opens no port")
  func runRefuses() throws {
    var bad = good
    bad["listen", "adress"] = "\"0.0.0.0:1\""
    let file = try bad.install(in: directory)
    let checked = try cordon(["check", "--config", file])
    let ran = try cordon(["run", "--config", file])
    #expect(ran.exit == .code(78))
    for problem in problems(checked.text, file: file) { #expect(ran.text.contains(problem.text)) }
  }

  @Test(
    "A file that is not TOML, or lacks what is required, is told with a place",
    arguments: ["[listen", "public_url = ", "public_url = \"http://localhost:1\"\npublic_url = \"x\"", ""])
  func brokenFile(text: String) throws {
    let file = try directory.write(text, to: "gateway.conf")
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(78))
    #expect(!problems(result.text, file: file).isEmpty, "\(result.text)")
  }

  @Test("A binary or enormous file is refused, not swallowed")
  func strangeFiles() throws {
    let file = "\(directory.path)/gateway.conf"
    for bytes in [Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 37) }), Data(repeating: 0x5B, count: 200_000)]
    {
      try bytes.write(to: URL(fileURLWithPath: file))
      let result = try cordon(["check", "--config", file])
      #expect(result.exit == .code(78))
    }
  }

  @Test("run takes the file as a second word or after an equals sign, and says the same of it")
  func spellings() throws {
    let file = "\(directory.path)/nowhere.conf"
    let (first, second) = (try cordon(["run", "--config", file]), try cordon(["run", "--config=\(file)"]))
    #expect(first.exit == .code(78) && first.text.contains("nowhere.conf"), "\(first)")
    #expect(second.exit == first.exit && second.text == first.text, "\(second)")
  }

  @Test("A missing file and a wrong usage are told apart")
  func usage() throws {
    #expect(try cordon(["check", "--config", "\(directory.path)/nowhere.conf"]).exit != .code(0))
    let wrong = [
      ["run", "--nonsense"], ["dance"], ["run", "--config"], ["run", "--config", "--config"],
      ["run", "--config", "-x"], ["run", "gateway.conf"], ["run", "--config", "gateway.conf", "more"],
    ]
    for arguments in wrong {
      #expect(try cordon(arguments).exit == .code(64), "\(arguments)")
    }
    #expect(try cordon(["--help"]).exit == .code(0))
  }

  @Test("Key files that are missing, short or no keys are problems of their entries; their contents are never told")
  func keyFiles() throws {
    let file = try good.install(in: directory)
    let secret = "tooshort-very-secret"
    try directory.write(secret, to: "session.key")
    try directory.write("-----BEGIN PRIVATE KEY-----\nAAAA\(secret)\n-----END PRIVATE KEY-----\n", to: "AuthKey.p8")
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(78))
    #expect(!result.text.contains(secret))
    let lines = good.text.components(separatedBy: "\n")
    for key in ["secret_files", "private_key_file"] {
      let line = try #require(lines.firstIndex { $0.hasPrefix(key) }) + 1
      #expect(problems(result.text, file: file).contains { $0.line == line }, "\(key) in:\n\(result.text)")
    }
    try FileManager.default.removeItem(atPath: "\(directory.path)/session.key")
    #expect(try cordon(["check", "--config", file]).exit == .code(78))
  }

  @Test("Values come from the environment, and a variable that is not set is a problem with a place")
  func environment() throws {
    var configuration = good
    configuration["apple", "client_id"] = "\"${CORDON_TEST_CLIENT}\""
    let file = try configuration.install(in: directory)
    #expect(
      try cordon(["check", "--config", file], environment: ["CORDON_TEST_CLIENT": "com.example.web"]).exit == .code(0))
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(78))
    #expect(result.text.contains("CORDON_TEST_CLIENT"))
  }

  @Test(
    "Combinations that cannot work are refused",
    arguments: [
      ("", "public_url", "\"http://app.example.com\""), ("", "public_url", "\"https://app.example.com/path\""),
      ("", "path_prefix", "\"auth\""), ("listen", "tls_certificate_file", "\"cert.pem\""),
      ("apple", "base_url", "\"http://apple.example.com\""), ("revalidation", "grace", "\"-1h\""),
      ("session", "idle_timeout", "\"0s\""), ("listen", "trusted_proxies", "[\"10.0.0.1/8\"]"),
      ("upstream", "url", "\"http://127.0.0.1:3000/path\""), ("store", "url", "\"mysql://x\""),
    ])
  func combinations(table: String, key: String, value: String) throws {
    var bad = good
    bad[table, key] = value
    let file = try bad.install(in: directory)
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(78), "\(key) = \(value): \(result.text)")
    let line = try #require(bad.text.components(separatedBy: "\n").firstIndex { $0 == "\(key) = \(value)" }) + 1
    #expect(problems(result.text, file: file).contains { $0.line == line }, "\(result.text)")
  }

  @Test("An interval below a day is refused against Apple itself, and taken against another address")
  func interval() throws {
    var configuration = good
    configuration["revalidation", "interval"] = "\"1h\""
    let file = try configuration.install(in: directory)
    #expect(try cordon(["check", "--config", file]).exit == .code(0))
    configuration["apple", "base_url"] = nil
    _ = try configuration.install(in: directory)
    #expect(try cordon(["check", "--config", file]).exit == .code(78))
  }

  @Test("The reference names every fixed key")
  func reference() throws {
    let result = try cordon(["reference"])
    #expect(result.exit == .code(0))
    for key in [
      "public_url", "path_prefix", "tls_certificate_file", "tls_private_key_file", "hosts", "trusted_proxies",
      "client_id", "team_id", "key_id", "private_key_file", "scopes", "response_mode", "response_type",
      "native_client_ids", "base_url", "secret_files", "lifetime", "idle_timeout", "interval", "grace",
      "return_schemes", "outage_grace", "unauthenticated", "allow_subjects", "allow_emails", "allow_email_domains",
      "allow_organizations", "access",
    ] { #expect(result.text.contains(key), "\(key)") }
  }

  @Test("The sample names every fixed table, and is valid when the files of its keys are there")
  func sample() throws {
    let sample = try String(contentsOf: Machine.packageRoot.appending(path: "gateway.conf.sample"), encoding: .utf8)
    for table in ["[listen]", "[admin]", "[upstream]", "[apple]", "[session]", "[revalidation]", "[store]"] {
      #expect(sample.contains(table), "\(table)")
    }
    let file = try directory.write(sample, to: "sample.conf")
    try directory.write(GatewayConfiguration.sessionSecret, to: "session.key")
    let incomplete = try cordon(["check", "--config", file])
    #expect(incomplete.exit == .code(78), "\(incomplete.text)")
    let missing = problems(incomplete.text, file: file).map(\.text)
    #expect(missing.count == 1 && missing[0].contains("there is no file AuthKey_ABC123DEFG.p8"), "\(incomplete.text)")
    try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey_ABC123DEFG.p8")
    let result = try cordon(["check", "--config", file])
    #expect(result.exit == .code(0) && result.text.contains("\n\nThe configuration is valid.\n"), "\(result.text)")
  }
}
