import Testing

@testable import ConfigurationFile

@Suite("Warnings about probable mistakes")
struct MistakeWarningTests {
  private func warnings(
    _ rest: String = "", publicURL: String = "https://app.example.com", listen: String = "127.0.0.1:8080",
    upstream: String = "http://127.0.0.1:3000", apple: String = ""
  ) throws -> [String] {
    let text = """
      public_url = "\(publicURL)"
      [listen]
      address = "\(listen)"
      [upstream]
      url = "\(upstream)"
      [apple]
      client_id = "com.example.web"
      team_id = "DEF123GHIJ"
      key_id = "ABC123DEFG"
      private_key_file = "AuthKey_ABC123DEFG.p8"
      \(apple)
      [session]
      secret_files = ["session.key"]
      \(rest)
      """
    return try ConfigurationFile.check(
      Array(text.utf8), name: "gateway.conf", directory: Sandbox.directory, environment: Sandbox.environment,
      files: Sandbox.files
    ).warnings.map(\.description)
  }

  @Test("A subject without a dot is a warning in each list, and subjects with dots, addresses and domains are none")
  func subjects() throws {
    let members = "[[group]]\nname = \"staff\"\nmembers = [\"001.ada\", \"ada@example.com\", \"@example.com\", "
    #expect(try warnings(members + "\"001234.0123456789abcdef0123456789abcdef.0123\"]\n") == [])
    for (text, key) in [
      (members + "\"bob\"]\n", "members"),
      ("[access]\nallow_subjects = [\"bob\"]\n", "allow_subjects"),
      ("[access]\ndeny_subjects = [\"bob\"]\n", "deny_subjects"),
      ("[[route]]\npath = \"/a/\"\nallow_subjects = [\"bob\"]\n", "allow_subjects"),
      ("[[route]]\npath = \"/a/\"\ndeny_subjects = [\"bob\"]\n", "deny_subjects"),
    ] {
      let found = try warnings(text)
      #expect(found.count == 1 && found[0].contains("\"bob\" is read as a subject"), "\(key): \(found)")
    }
  }

  private func problem(_ rest: String = "", listen: String = "127.0.0.1:8080") throws -> String {
    do {
      _ = try warnings(rest, listen: listen)
      return "none"
    } catch let error as ConfigurationError {
      return error.problems.map(\.description).joined(separator: "\n")
    }
  }

  @Test("Usual mistakes are answered with what to write")
  func remedies() throws {
    let url = try problem(listen: "http://127.0.0.1:3000")
    #expect(url.contains("leave out \"http://\": \"127.0.0.1:3000\""), "\(url)")
    let colour = try problem("[log]\ncolour = true\n")
    #expect(colour.contains("the keys of [log] are ") && !colour.contains("button"), "\(colour)")
    let path = try problem("[[route]]\npath = \"api\"\naccess = \"public\"\n")
    #expect(path.contains("write \"/api\""), "\(path)")
    let store = try problem("[store]\nurl = \"sqlite:///var/lib/cordon/cordon.db\"\n")
    #expect(store.contains("write one colon and the path"), "\(store)")
  }
}
