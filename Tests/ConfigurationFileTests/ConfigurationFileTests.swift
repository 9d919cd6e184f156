import AccessPolicy
import AppleIdentity
import DataPlane
import Foundation
import Sessions
import TemporaryDirectoryTesting
import Testing

@testable import ConfigurationFile

@Suite("Files of this machine")
struct ConfigurationFileTests {
  private func inFolder(_ act: (String) throws -> Void) throws {
    let folder = try TemporaryDirectory()
    try act(folder.path)
  }

  private func write(_ text: String, _ path: String, mode: Int) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test("The summary says what an admin listener is good for, and that [access] holds where no route is stated")
  func summaryParts() throws {
    func text(_ part: String, _ rest: String) throws -> String? {
      try Sandbox.parse(Sandbox.minimal(rest)).summary.first { $0.part == part }?.text
    }
    #expect(try text("admin", "") == "127.0.0.1:9901, health and metrics only")
    #expect(try text("admin", "[admin]\ntoken_file = \"admin.token\"") == "127.0.0.1:9901, administration by token")
    #expect(try text("admin", "[admin]\naddress = \"unix:/run/cordon/admin.sock\"") == "unix:/run/cordon/admin.sock")
    #expect(try text("routes", "") == "everything for those who are signed in")
    #expect(try text("routes", "[access]\nallow_emails = [\"a@b.example\"]") == "none, everything by [access]")
  }

  @Test("A PostgreSQL address with a wrong port, sslmode or \"@\" is refused without its password")
  func wrongPostgreSQLAddress() throws {
    func problem(_ url: String) -> String? {
      do {
        _ = try Sandbox.parse(Sandbox.minimal("[store]\nurl = \"\(url)\""))
        return nil
      } catch {
        return "\(error)"
      }
    }
    for url in [
      "postgresql://u:s3cret@db:99999/x", "postgresql://u:s3cret@db:0/x", "postgresql://u:s3cret@a:5432,b:543x/x",
      "postgresql://u:s3cret@[::1]:port/x", "postgresql://u:s3cret@db/x?port=-1", "postgresql://u:s3cret/w@db/x",
    ] {
      let found = try #require(problem(url), "\(url)")
      #expect(found.contains("a number from 1 to 65535") && !found.contains("s3cret"), "\(found)")
    }
    for url in [
      "postgresql://u:p@s3cret@db/x", "postgresql://u:p@s3cret@db:5432,b/x?sslmode=require", "postgresql://u@s3cret@db",
      "postgresql://u:5432/s3cret@db/x",
    ] {
      let found = try #require(problem(url), "\(url)")
      #expect(found.contains("write %40") && !found.contains("s3cret"), "\(found)")
    }
    for url in ["postgresql://u:s3cret@db/x?sslmode=foo", "postgresql://db/x?a=b&sslmode="] {
      let found = try #require(problem(url), "\(url)")
      #expect(found.contains("verify-full") && !found.contains("s3cret"), "\(found)")
    }
    for url in [
      "postgresql://db/x", "postgresql://db:/x", "postgresql://a:5432,b:5433/x?sslmode=verify-full", "postgresql:///x",
      "postgresql://[2001:db8::1]/x", "postgresql://[2001:db8::1]:5432/x", "postgresql://%2Frun%2Fpostgresql:5432/x",
      "postgresql://db/x?port=5432&sslmode=verify%2Dfull", "postgresql://u:p@db", "postgresql://u:p%40q@a,b/x",
      "postgresql://u@/x?host=@cordon", "postgresql://db/my@x", "postgresql://u@db/my@x", "postgresql:///my@x",
    ] {
      #expect(problem(url) == nil, "\(url): \(problem(url) ?? "")")
    }
  }

  @Test("A file is read with the files that it names, relative to its own folder")
  func loads() throws {
    try inFolder { folder in
      try write(String(decoding: Sandbox.minimal(), as: UTF8.self), folder + "/gateway.conf", mode: 0o644)
      try write("0123456789abcdef0123456789abcdef\n", folder + "/session.key", mode: 0o600)
      try write(String(decoding: Sandbox.key, as: UTF8.self), folder + "/AuthKey_ABC123DEFG.p8", mode: 0o600)
      let configuration = try ConfigurationFile.load(folder + "/gateway.conf")
      #expect(configuration.session.secretFiles == [folder + "/session.key"])
      #expect(configuration.redirectURI == "https://app.example.com/.auth/callback")
      #expect(try configuration.publicOrigin.host == "app.example.com")

      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/session.key")
      let problems = try #require(throws: ConfigurationError.self) {
        try ConfigurationFile.load(folder + "/gateway.conf")
      }
      #expect(problems.problems.map(\.line) == [12])
      #expect(problems.problems.first?.remedy == "fix it with: chmod o= \(folder)/session.key")
    }
  }

  @Test("A file that is missing, or is not a regular one, is a problem like any other")
  func unreadable() throws {
    try inFolder { folder in
      for (path, problem) in [(folder + "/absent", "there is no such file"), (folder, "this is not a regular file")] {
        let problems = try #require(throws: ConfigurationError.self) { try ConfigurationFile.load(path) }
        #expect(problems.description.hasPrefix("\(path):1:1: \(problem); "))
      }
    }
    let empty = try #require(throws: ConfigurationError.self) { try ConfigurationFile.load("") }
    #expect(empty.description == ":1:1: the name of the file is empty; name one with --config")
    // Root cannot read such a file either.
    let loop = FileAccess(read: { _, _ in .unreadable(reason: "Too many levels of symbolic links") })
    let unreadable = try #require(throws: ConfigurationError.self) { try ConfigurationFile.load("a", files: loop) }
    #expect(unreadable.description.hasSuffix(", or name another file"))
  }

  @Test("Of many problems the first 50 are reported, and how many more there are", arguments: [50, 51, 1_000])
  func manyProblems(count: Int) throws {
    let keys = (1...count).map { "unknown_\($0) = 1\n" }.joined()
    let problems = try #require(throws: ConfigurationError.self) {
      try Sandbox.parse(Array(keys.utf8) + Sandbox.minimal())
    }.problems
    #expect(problems.prefix(50).map(\.line) == Array(1...50))
    #expect(problems.prefix(50).allSatisfy { $0.problem.contains("there is no key unknown_") })
    guard count > 50 else { return #expect(problems.count == 50) }
    #expect(problems.count == 51 && problems[50].line == 51)
    let more = count == 51 ? "1 more problem" : "950 more problems"
    #expect(problems[50].description == "gateway.conf:51:1: \(more) from here on; fix those above first")
  }

  @Test("There may be 1,000 hosts and 10,000 groups; the first beyond them is a problem")
  func mostHostsAndGroups() throws {
    func hosts(_ count: Int) -> String {
      (1...count).map { "[[host]]\nname = \"h\($0).example.com\"\n" }.joined()
    }
    func groups(_ count: Int) -> String {
      (1...count).map { "[[group]]\nname = \"g\($0)\"\nmembers = [\"001.a\"]\n" }.joined()
    }
    let most = try Sandbox.parse(Sandbox.minimal(hosts(1_000) + groups(10_000)))
    #expect(most.hosts.count == 1_000 && most.groups.count == 10_000)
    for (text, problem) in [
      (hosts(1_001), "gateway.conf:2013:3: there are more than 1000 hosts; remove this one"),
      (groups(10_001), "gateway.conf:30013:3: there are more than 10000 groups; remove this one"),
    ] {
      let problems = try #require(throws: ConfigurationError.self) {
        try Sandbox.parse(Sandbox.minimal(text))
      }.problems
      #expect(problems.map(\.description) == [problem])
    }
  }

  @Test("An upstream may have 64 session cookies; more are a problem")
  func mostCookies() throws {
    func upstream(_ count: Int) -> String {
      let cookies = (1...count).map { "\"c\($0)\"" }.joined(separator: ", ")
      return "[[upstreams]]\nname = \"wiki\"\nurl = \"http://127.0.0.1:3001\"\nend_cookies = [\(cookies)]\n"
    }
    _ = try Sandbox.parse(Sandbox.minimal(upstream(64)))
    let problems = try #require(throws: ConfigurationError.self) {
      try Sandbox.parse(Sandbox.minimal(upstream(65)))
    }.problems
    #expect(problems.map(\.problem) == ["upstreams.end_cookies names 65 cookies"])
  }

  @Test("Of many warnings the first 50 are reported, and how many more there are")
  func manyWarnings() throws {
    let routes = (1...60).map { "[[route]]\npath = \"/a\($0)/\"\nmethods = [\"get\"]\n" }.joined()
    let checked = try Sandbox.check(Sandbox.minimal(routes))
    #expect(checked.warnings.count == 51, "\(checked.warnings.count)")
    #expect(checked.warnings.last?.description.contains("warnings from here on; fix those above first") == true)
    #expect(checked.warnings.allSatisfy { $0.severity == .warning })
  }

  @Test("Looking at a FIFO does not wait for its other end")
  func fifo() throws {
    try inFolder { folder in
      #expect(mkfifo(folder + "/fifo", 0o600) == 0)
      #expect(FileAccess.system.read(folder + "/fifo", 100) == .notRegular)
      try write("12345", folder + "/file", mode: 0o640)
      #expect(FileAccess.system.read(folder + "/file", 5) == .contents(Array("12345".utf8), mode: 0o640))
      #expect(FileAccess.system.read(folder + "/file", 4) == .tooLong)
    }
  }

  @Test("The file in the place of the store is not opened, but by commands, which read its first bytes")
  func storeFile() throws {
    try inFolder { folder in
      let (database, other) = (folder + "/cordon.db", folder + "/notes")
      try write("SQLite format 3\0", database, mode: 0o600)
      try write("dear diary", other, mode: 0o600)
      try write("", folder + "/empty", mode: 0o600)
      try write(String(repeating: "x", count: 65_537), folder + "/large", mode: 0o600)
      for (path, seen, ofCommand) in [
        (folder, FileAccess.StoreFile.notRegular, FileAccess.StoreFile.notRegular), (database, .possible, .possible),
        (folder + "/none", .possible, .possible), (folder + "/empty", .possible, .possible),
        (folder + "/large", .possible, .possible), (other, .possible, .notDatabase),
      ] {
        #expect(FileAccess.system.store(path) == seen && FileAccess.systemWithStore.store(path) == ofCommand, "\(path)")
      }
    }
  }

  @Test("A configuration with defaults only has the defaults of every part")
  func defaults() throws {
    let configuration = try Sandbox.parse(Sandbox.minimal())
    #expect(configuration.pathPrefix == "/.auth")
    #expect(configuration.adminAddress == .ip(host: "127.0.0.1", port: 9901))
    #expect(configuration.apple.baseURL == AppleSettings.appleBaseURL)
    #expect(configuration.store.location == .sqlite(path: "/var/lib/cordon/cordon.db"))
    #expect(configuration.revalidation.interval == .seconds(86_400))
  }

  @Test("The summary has a line for each part and no secret")
  func summary() throws {
    let configuration = try Sandbox.parse(
      Sandbox.minimal("[store]\nurl = \"postgresql://u:${SECRET}@db/x\"\n[[route]]\npath = \"/a/\"\naccess = \"deny\""))
    let text = configuration.summary.map { "\($0.part) \($0.text)" }.joined(separator: "\n")
    #expect(text.contains("postgresql://db/x"))
    #expect(text.contains("/a/ deny"))
    #expect(!text.contains(Sandbox.secretValue))
    #expect(configuration.summary.allSatisfy { !$0.part.isEmpty && !$0.text.isEmpty })
  }

  /// The complaints about a minimal file, some of whose files cannot be read.
  private func problems(
    _ rest: String = "", of paths: Set<String>, _ outcome: FileAccess.Outcome
  ) -> ConfigurationError? {
    var files = Sandbox.files
    files.read = { path, limit in paths.contains(path) ? outcome : Sandbox.files.read(path, limit) }
    do throws(ConfigurationError) {
      _ = try Sandbox.parse(Sandbox.minimal(rest), files: files)
      return nil
    } catch {
      return error
    }
  }

  @Test("A file that the machine cannot read at the moment is told from one that the operator has to change")
  func transient() throws {
    let paths: Set = ["/conf/session.key", "/conf/AuthKey_ABC123DEFG.p8"]
    let passing = try #require(problems(of: paths, .failed(reason: "Input/output error")))
    #expect(passing.problems.count == 2 && passing.isTransient && !passing.isMismatch)
    #expect(passing.description.contains("session.key cannot be read now (Input/output error)"))
    #expect(!passing.description.contains("grant read access"))
    let lasting = try #require(problems(of: paths, .unreadable(reason: "Permission denied")))
    #expect(lasting.problems.count == 2 && !lasting.isTransient)
    let both = try #require(problems("[access]\nnonsense = 1", of: paths, .failed(reason: "Input/output error")))
    #expect(!both.isTransient, "a restart does not correct the file")
    let file = FileAccess(read: { _, _ in .failed(reason: "Input/output error") })
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationFile.load("gateway.conf", files: file) }
    #expect(error?.isTransient == true && error?.description.contains("cannot be read now") == true)
  }

  @Test("A complaint is one line, whatever the file holds")
  func oneLine() {
    let problem = ConfigurationDiagnostic(
      file: "a\nb", line: 1, column: 2, problem: "x\u{1B}[31m\r\u{2028}\u{9B}", remedy: "y\u{202E}")
    #expect(problem.description == "a\\u{a}b:1:2: x\\u{1b}[31m\\u{d}\\u{2028}\\u{9b}; y\\u{202e}")
  }
}
