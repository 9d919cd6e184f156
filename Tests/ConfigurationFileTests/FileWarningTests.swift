import Testing

@testable import ConfigurationFile

@Suite("Warnings about files")
struct FileWarningTests {
  private func warnings(_ text: String, files: FileAccess = Sandbox.files) throws -> [String] {
    let checked = try ConfigurationFile.check(
      Array(text.utf8), name: "gateway.conf", directory: Sandbox.directory, environment: Sandbox.environment,
      files: files)
    return checked.warnings.map(\.description)
  }

  private func text(keyID: String = "ABC123DEFG", store: String = "sqlite:/var/lib/cordon/cordon.db") -> String {
    """
    public_url = "https://app.example.com"
    [listen]
    address = "127.0.0.1:8080"
    [upstream]
    url = "http://127.0.0.1:3000"
    [apple]
    client_id = "com.example.web"
    team_id = "DEF123GHIJ"
    key_id = "\(keyID)"
    private_key_file = "AuthKey_ABC123DEFG.p8"
    [session]
    secret_files = ["session.key"]
    [store]
    url = "\(store)"

    """
  }

  @Test("A key_id that is not the one in the name of the key's file is a warning at its line")
  func keyID() throws {
    #expect(try warnings(text()) == [])
    let found = try warnings(text(keyID: "ZZZ123DEFG"))
    #expect(found.count == 1 && found[0].hasPrefix("gateway.conf:9:1: warning: "), "\(found)")
    #expect(found[0].contains("ABC123DEFG") && found[0].contains("ZZZ123DEFG"))
  }

  @Test("A store whose folder is not there is a warning with the command that creates it")
  func storeFolder() throws {
    var files = Sandbox.files
    files.hasFolder = { $0 == "/var/lib/cordon" }
    #expect(try warnings(text(), files: files) == [])
    let found = try warnings(text(store: "sqlite:/srv/nowhere/cordon.db"), files: files)
    #expect(found.count == 1 && found[0].contains("install -d -m 0700 -o USER /srv/nowhere"), "\(found)")
  }

  @Test("The identifier of a key is in the name that Apple gives to its file, and in no other")
  func keyNames() {
    #expect(AppleKeyFile.keyID(inNameOf: "/etc/cordon/AuthKey_ABC123DEFG.p8") == "ABC123DEFG")
    for other in ["AuthKey.p8", "AuthKey_ABC.p8", "AuthKey_ABC123DEFG.pem", "AuthKey_ABC123DEFG.p8/x", ""] {
      #expect(AppleKeyFile.keyID(inNameOf: other) == nil, "\(other)")
    }
  }
}
