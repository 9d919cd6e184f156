import Foundation
import TemporaryDirectoryTesting
import Testing

// The first hour: a configuration by asking.
//
// - Without a terminal: options answer everything; the files get the permissions that they need; the result is in
//   order.
// - What is missing or wrong is told with its option and the reason, and nothing is written.
// - Nothing is overwritten without being told to: neither the configuration nor a key nor a secret.
// - With a terminal: a wrong answer is told at once and asked again; Enter takes the default.

@SystemActor
@Suite("cordon init")
struct InitTests {
  private let directory: TemporaryDirectory
  private let key: String

  init() throws {
    directory = try TemporaryDirectory()
    key = try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey_ABC123DEFG.p8")
    // As a browser saves it: for everybody to read.
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
  }

  private func initialize(
    _ arguments: [String], into folder: String = "made"
  ) throws -> (exit: ServerProcess.Exit, text: String) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["init", "--output", "\(folder)/gateway.conf"] + arguments, directory: directory.path)
    return (result.exit, result.standardOutput + result.standardError)
  }

  private var answers: [String] {
    [
      "--public-url", "https://app.example.com", "--client-id", "com.example.web", "--team-id", "DEF123GHIJ",
      "--key-file", key,
    ]
  }

  private func mode(_ file: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/\(file)")
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  private func contents(_ file: String) throws -> String {
    try String(contentsOfFile: "\(directory.path)/\(file)", encoding: .utf8)
  }

  @Test("Without a terminal all options that are missing are told at once")
  func missing() throws {
    let made = try initialize(["--access", "domains", "--tls-certificate", "tls.pem"])
    #expect(made.exit == .code(64), "\(made.text)")
    let options = "--public-url, --client-id, --team-id, --key-file, --tls-key, --domains"
    #expect(made.text.contains("without a terminal, give these options: \(options)\n"), "\(made.text)")
  }

  @Test("Options answer everything, and what is written is in order and nobody else's")
  func options() throws {
    let made = try initialize(answers)
    #expect(made.exit == .code(0), "\(made.text)")
    #expect(made.text.contains("https://app.example.com/.auth/callback\n\nThen:\n\n  cordon doctor --config made/"))
    for file in ["gateway.conf", "session.key", "AuthKey_ABC123DEFG.p8"] { #expect(try mode("made/\(file)") == 0o600) }
    #expect(try contents("made/gateway.conf").contains("key_id = \"ABC123DEFG\""))
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", "made/gateway.conf"], directory: directory.path)
    #expect(check.exit == .code(0), "\(check.standardOutput)")
  }

  @Test("If a proxy terminates TLS, the file shows the key that names it")
  func proxy() throws {
    #expect(try initialize(answers).exit == .code(0))
    let note = "# trusted_proxies = [\"127.0.0.1/32\"]\naddress = \"127.0.0.1:8080\"\n"
    #expect(try contents("made/gateway.conf").contains(note))
    #expect(try initialize(answers + ["--listen", "unix:/run/cordon/http.sock", "--force"]).exit == .code(0))
    #expect(try !contents("made/gateway.conf").contains("trusted_proxies"))
    #expect(try initialize(["--simulator", "--force"]).exit == .code(0))
    #expect(try !contents("made/gateway.conf").contains("trusted_proxies"))
  }

  @Test("The warnings that check gives of a new configuration are told when it is made")
  func warnings() throws {
    let made = try initialize(answers + ["--listen", "[::]:443", "--members", "bob"])
    #expect(made.exit == .code(0), "\(made.text)")
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--quiet", "--config", "made/gateway.conf"], directory: directory.path)
    let warnings = check.standardOutput.split(separator: "\n")
    #expect(warnings.count == 2, "\(check.standardOutput)")
    for warning in warnings { #expect(made.text.contains("\n\(warning)\n"), "\(made.text)") }
    #expect(try !initialize(answers + ["--force"]).text.contains("warning"))
  }

  @Test("With --simulator nothing is asked, and users sign in at a gateway that stands before the simulator")
  func simulator() throws {
    let made = try initialize(["--simulator"])
    #expect(made.exit == .code(0), "\(made.text)")
    for file in ["gateway.conf", "session.key", "AuthKey_ABC123DEFG.p8"] { #expect(try mode("made/\(file)") == 0o600) }
    let command =
      "apple-simulator --private-key-file \(directory.path)/made/AuthKey_ABC123DEFG.p8 "
      + "--redirect-uri http://localhost:8080/.auth/callback"
    #expect(made.text.contains(command), "\(made.text)")
    let written = try contents("made/gateway.conf")
    #expect(written.contains("base_url = \"http://127.0.0.1:8090\""), "\(written)")

    // The same on free ports.
    let upstream = try RawUpstream(RawUpstream.greet)
    defer { upstream.stop() }
    let (port, applePort) = (try FreePort.take(), try FreePort.take())
    let key = try contents("made/AuthKey_ABC123DEFG.p8")
    let again = try initialize([
      "--simulator", "--force", "--public-url", "http://localhost:\(port)", "--listen", "127.0.0.1:\(port)",
      "--upstream", "http://127.0.0.1:\(upstream.port)",
    ])
    #expect(again.exit == .code(0), "\(again.text)")
    #expect(try contents("made/AuthKey_ABC123DEFG.p8") == key)
    let configuration = try contents("made/gateway.conf").replacingOccurrences(
      of: "127.0.0.1:8090", with: "127.0.0.1:\(applePort)")
    let file = try directory.write(configuration, to: "made/gateway.conf")
    let line = try #require(again.text.split(separator: "\n").first { $0.contains("apple-simulator --") })
    let arguments = line.split(separator: " ").dropFirst().map(String.init) + ["--port", "\(applePort)"]
    let apple = try ServerProcess(Machine.binary("apple-simulator"), arguments, directory: directory.path)
    defer { apple.stop() }
    try apple.waitForLine(containing: "apple-simulator ready")
    let gateway = try ServerProcess(
      Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { gateway.stop() }
    try gateway.waitForLine(containing: "cordon is ready")
    let visitor = Visitor()
    try visitor.open("http://localhost:\(port)/.auth/authorize")
    try visitor.decide(.proceed(user: "anna"))
    try visitor.carryBack()
    let session = try visitor.fetch("http://localhost:\(port)/.auth/session")
    #expect(session.status == 200, "\(session.text)")
    #expect(try visitor.fetch("http://localhost:\(port)/beside").status == 200)
  }

  @Test("With --simulator the listener's address and the public origin follow each other")
  func simulatorAddresses() throws {
    #expect(try initialize(["--simulator", "--listen", "0.0.0.0:9123"]).exit == .code(0))
    #expect(try contents("made/gateway.conf").contains("public_url = \"http://localhost:9123\""))
    #expect(try initialize(["--simulator", "--force", "--public-url", "http://localhost:9124"]).exit == .code(0))
    #expect(try contents("made/gateway.conf").contains("address = \"127.0.0.1:9124\""))
    #expect(try initialize(["--simulator", "--force", "--listen", "unix:gateway.sock"]).exit == .code(0))
    #expect(try contents("made/gateway.conf").contains("public_url = \"http://localhost:8080\""))
  }

  @Test("--simulator has identifiers of its own")
  func simulatorOptions() throws {
    let refused = try initialize(["--simulator", "--client-id", "com.example.other"])
    #expect(refused.exit == .code(64), "\(refused.text)")
  }

  @Test("A folder that is for a group gets files that its group may read")
  func groupsFolder() throws {
    guard geteuid() == 0 else { return }
    try FileManager.default.createDirectory(
      atPath: "\(directory.path)/made", withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o750, .groupOwnerAccountID: 12_345])
    #expect(try initialize(answers).exit == .code(0))
    for file in ["gateway.conf", "session.key", "AuthKey_ABC123DEFG.p8"] {
      #expect(try mode("made/\(file)") == 0o640)
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/made/\(file)")
      #expect((attributes[.groupOwnerAccountID] as? NSNumber)?.intValue == 12_345)
    }
  }

  @Test(
    "A missing or wrong option is reported by name, and nothing is written",
    arguments: [
      (["--public-url", "app.example.com"], Int32(78), "--public-url"),
      (["--public-url", "https://app.example.com"], 64, "--client-id"),
      (
        [
          "--public-url", "https://app.example.com", "--client-id", "com.example.web", "--team-id", "DEF123GHIJ",
          "--key-file", "/etc/hostname",
        ], 78, "--key-file"
      ),
    ])
  func refusals(arguments: [String], status: Int32, named: String) throws {
    let refused = try initialize(arguments)
    #expect(refused.exit == .code(status), "\(refused.text)")
    #expect(refused.text.contains(named))
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/gateway.conf"))
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/session.key"))
  }

  @Test("Only the last folder is made, and where more are missing the remedy is given")
  func missingFolder() throws {
    let refused = try initialize(answers, into: "one/two")
    #expect(refused.exit == .code(73))
    #expect(refused.text.contains("one/two: the folder above is missing; run mkdir -p one/two"), "\(refused.text)")
    let key = try ServerProcess.run(
      Machine.binary("cordon"), ["keygen", "--output", "one/session.key"], directory: directory.path)
    #expect(key.standardError.contains("one/session.key: its folder is missing; create it"), "\(key.standardError)")
  }

  @Test("Commands that are printed to be copied have names with spaces in quotes")
  func quotedNames() throws {
    let made = try initialize(["--simulator"], into: "my app")
    #expect(made.exit == .code(0), "\(made.text)")
    #expect(made.text.contains("cordon run --config \"my app/gateway.conf\""), "\(made.text)")
    #expect(made.text.contains("my app/AuthKey_ABC123DEFG.p8\" --redirect-uri"), "\(made.text)")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o644], ofItemAtPath: "\(directory.path)/my app/session.key")
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "my app/gateway.conf"], directory: directory.path)
    #expect(check.exit == .code(78) && check.standardOutput.contains("chmod o= \""), "\(check)")
  }

  @Test("An empty name, or one that ends with a slash, is refused before anything is made", arguments: ["", "new/"])
  func noFileName(output: String) throws {
    let refused = try initialize(["--simulator", "--output", output])
    #expect(refused.exit == .code(73), "\(refused.text)")
    #expect(refused.text.contains("name the file to write: --output FILE"), "\(refused.text)")
    let key = try ServerProcess.run(
      Machine.binary("cordon"), ["keygen", "--output", output], directory: directory.path)
    #expect(key.exit == .code(73), "\(key)")
    #expect(key.standardError.contains("name the file to write"), "\(key)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["AuthKey_ABC123DEFG.p8"])
  }

  @Test("A configuration that is there stays, unless it is to be replaced: then it is kept, and the secret stays")
  func replacing() throws {
    #expect(try initialize(answers).exit == .code(0))
    let (configuration, secret) = (try contents("made/gateway.conf"), try contents("made/session.key"))
    let other = answers + ["--upstream", "http://127.0.0.1:4000"]
    #expect(try initialize(other).exit == .code(73))
    #expect(try contents("made/gateway.conf") == configuration)

    #expect(try initialize(other + ["--force"]).exit == .code(0))
    #expect(try contents("made/gateway.conf").contains("127.0.0.1:4000"))
    #expect(try contents("made/gateway.conf.old") == configuration)
    #expect(try contents("made/session.key") == secret)
    // A folder is not a file that can be replaced.
    #expect(try initialize(other + ["--force", "--output", "made"]).exit == .code(73))
    #expect(try contents("made/session.key") == secret)
  }

  @Test("At a terminal a wrong answer is told at once and asked again, and Enter takes the default")
  func terminal() throws {
    // `script` is the terminal: what is typed comes from a pipe.
    let typed = [
      "app.example.com", "https://app.example.com", "", "", "/nowhere.pem", "/nowhere.key", "", "com.example.web",
      "def", "DEF123GHIJ", key, "", "7", "2", "ada@*.org", "bob", "ada@example.com 001234.abc", "",
    ]
    let command = "\(try Machine.binary("cordon")) init --output made/gateway.conf"
    let made = try ServerProcess.run(
      Machine.program("bash", package: "bash"),
      [
        "-c",
        "printf '%s\\n' \(typed.map { "'\($0)'" }.joined(separator: " ")) | script --quiet --return --command '\(command)' /dev/null",
      ], directory: directory.path)
    #expect(made.exit == .code(0), "\(made.standardOutput)")
    #expect(made.standardOutput.contains("No: public_url"))
    #expect(made.standardOutput.contains("No: apple.team_id"))
    #expect(made.standardOutput.contains("No: listen.tls_certificate_file"))
    #expect(made.standardOutput.contains("Key ID [ABC123DEFG]"))
    #expect(made.standardOutput.contains("No: \"bob\" is neither an address nor a subject"))
    let configuration = try contents("made/gateway.conf")
    #expect(configuration.contains("url = \"http://127.0.0.1:3000\""))
    #expect(!configuration.contains("tls_"))
    #expect(configuration.contains("members = [\"ada@example.com\", \"001234.abc\"]"), "\(configuration)")
    #expect(!configuration.contains("requests"))
  }

  @Test(
    "Each answer to who may come in leads to a configuration that is in order, and by default nobody may",
    arguments: [
      ([], "requests = true"), (["--access", "requests"], "allow_groups = [\"members\"]"),
      (["--members", "ada@example.com,001234.abc"], "members = [\"ada@example.com\", \"001234.abc\"]"),
      (["--access", "domains", "--domains", "example.com"], "allow_email_domains = [\"example.com\"]"),
      (["--access", "everybody"], "[session]"),
    ])
  func access(options: [String], line: String) throws {
    let made = try initialize(answers + options)
    #expect(made.exit == .code(0), "\(made.text)")
    let configuration = try contents("made/gateway.conf")
    #expect(configuration.contains(line), "\(configuration)")
    #expect(configuration.contains("requests = true") == (options.isEmpty || options.last == "requests"))
    #expect(configuration.contains("[access]") == (options.last != "everybody"))
    let check = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", "made/gateway.conf"], directory: directory.path)
    #expect(check.exit == .code(0) && !check.standardOutput.contains("warning"), "\(check.standardOutput)")
  }

  @Test(
    "An impossible answer to who may come in is refused",
    arguments: [
      (["--members", "ada@*.org"], 78), (["--members", " "], 78), (["--domains", " , "], 78),
      (["--access", "listed"], 64), (["--access", "nobody"], 64), (["--access", "everybody", "--members", "a"], 64),
    ] as [([String], Int32)])
  func impossibleAccess(options: [String], status: Int32) throws {
    let refused = try initialize(answers + options)
    #expect(refused.exit == .code(status), "\(refused.text)")
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/gateway.conf"))
  }

  @Test(
    "Options that contradict each other are reported by name, and nothing is written or replaced",
    arguments: [
      (["--upstream", "http://127.0.0.1:8080"], "--upstream: upstream.url is the gateway's own listener"),
      (["--client-id", "DEF123GHIJ.com.example.web"], "--client-id: apple.client_id: a client ID must not contain"),
    ])
  func contradictions(options: [String], named: String) throws {
    let refused = try initialize(answers + options)
    #expect(refused.exit == .code(78), "\(refused.text)")
    #expect(refused.text.contains("cordon init: \(named)"), "\(refused.text)")
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/gateway.conf"))
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/session.key"))

    #expect(try initialize(answers).exit == .code(0))
    let before = try contents("made/gateway.conf")
    #expect(try initialize(answers + options + ["--force"]).exit == .code(78))
    #expect(try contents("made/gateway.conf") == before)
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/gateway.conf.old"))
  }

  @Test("With --simulator, too, an application at the address of the listener is reported before anything is written")
  func simulatorContradiction() throws {
    let refused = try initialize(["--simulator", "--upstream", "http://127.0.0.1:8080"])
    #expect(refused.exit == .code(78), "\(refused.text)")
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/gateway.conf"))
    let other = ["--simulator", "--upstream", "http://127.0.0.1:8080", "--listen", "127.0.0.1:8081"]
    #expect(try initialize(other).exit == .code(0))
  }

  @Test("At a terminal answers that contradict each other are asked again, and no line is wider than 80 columns")
  func contradictionsAtTerminal() throws {
    let typed = [
      "https://app.example.com", "http://127.0.0.1:8080", "", "http://127.0.0.1:8080", "127.0.0.1:8081", "",
      "DEF123GHIJ.com.example.web", "DEF123GHIJ", "com.example.web", "DEF123GHIJ", key, "", "3", "example.com", "",
    ]
    let command = "\(try Machine.binary("cordon")) init --output made/gateway.conf"
    let words = typed.map { "'\($0)'" }.joined(separator: " ")
    let made = try ServerProcess.run(
      Machine.program("bash", package: "bash"),
      ["-c", "printf '%s\\n' \(words) | script --quiet --return --command '\(command)' /dev/null"],
      directory: directory.path)
    #expect(made.exit == .code(0), "\(made.standardOutput)")
    #expect(made.standardOutput.contains("No: upstream.url is the gateway's own listener"), "\(made.standardOutput)")
    #expect(made.standardOutput.contains("No: apple.client_id: a client ID must not"), "\(made.standardOutput)")
    let configuration = try contents("made/gateway.conf")
    for line in ["url = \"http://127.0.0.1:8080\"", "address = \"127.0.0.1:8081\"", "client_id = \"com.example.web\""] {
      #expect(configuration.contains(line), "\(configuration)")
    }
    // Explanations begin at the edge; prompts, and messages about paths, depend on what was typed.
    let lines = made.standardOutput.split { $0 == "\r\n" || $0 == "\n" }
    for line in lines.prefix(while: { !$0.hasPrefix("The key ") }) where !line.hasPrefix(" ") {
      #expect(line.count <= 80 || line.contains(directory.path), "\(line)")
    }
  }

  @Test("The explanation of how to admit somebody is no wider than 80 columns")
  func requestsExplained() throws {
    let made = try initialize(answers + ["--access", "requests"])
    #expect(made.exit == .code(0), "\(made.text)")
    let explanation = made.text.split(separator: "\n").drop { !$0.hasPrefix("Nobody has access yet") }
    #expect(!explanation.isEmpty && explanation.allSatisfy { $0.count <= 80 }, "\(made.text)")
  }

  @Test("Input that ends before the last answer leads to no file")
  func brokenOff() throws {
    let command = "\(try Machine.binary("cordon")) init --output made/gateway.conf"
    let made = try ServerProcess.run(
      Machine.program("bash", package: "bash"),
      ["-c", "printf 'https://app.example.com\\n\\004' | script --quiet --return --command '\(command)' /dev/null"],
      directory: directory.path)
    #expect(made.exit == .code(1), "\(made.standardOutput)")
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/made/gateway.conf"))
  }
}
