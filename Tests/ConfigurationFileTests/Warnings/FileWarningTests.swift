import Testing

@testable import ConfigurationFile

@Suite("Warnings about files")
struct FileWarningTests {
  private func warnings(_ text: String, files: FileAccess = Sandbox.files) throws -> [String] {
    try Sandbox.check(text.utf8, files: files).warnings.map(\.description)
  }

  private func text(keyID: String = "ABC123DEFG", store: String = "sqlite:/var/lib/cordon/cordon.db") -> String {
    String(decoding: Sandbox.minimal("[store]\nurl = \"\(store)\"\n"), as: UTF8.self)
      .replacing("key_id = \"ABC123DEFG\"", with: "key_id = \"\(keyID)\"")
  }

  @Test("A key_id that is not the one in the name of the key's file is a warning at its line")
  func keyID() throws {
    #expect(try warnings(text()) == [])
    let found = try warnings(text(keyID: "ZZZ123DEFG"))
    #expect(found.count == 1 && found[0].hasPrefix("gateway.conf:9:1: warning: "), "\(found)")
    #expect(found[0].contains("ABC123DEFG") && found[0].contains("ZZZ123DEFG"))
  }

  @Test("A line of a members file that looks like a domain is a warning, and one that begins with @ is none")
  func domainsInMembersFile() throws {
    func group(_ file: String) -> String {
      text() + "[access]\nallow_groups = [\"staff\"]\n[[group]]\nname = \"staff\"\nmembers_file = \"\(file)\"\n"
    }
    #expect(try warnings(group("staff.txt")) == [])
    let found = try warnings(group("domain-members.txt"))
    #expect(found.count == 1, "\(found)")
    #expect(
      found.first?.contains(
        "members_file: domain-members.txt: \"example.com\" (and 1 more) is read as a subject, and looks like a domain; "
          + "write \"@example.com\" if every address of the domain is meant") == true, "\(found)")
  }

  @Test("A mail provider's domain in a members file is a warning, unless the group is only denied")
  func providersInMembersFile() throws {
    func found(_ use: String) throws -> [String] {
      let group = "[[group]]\nname = \"staff\"\nmembers_file = \"provider-members.txt\"\n"
      return try warnings(text() + "[access]\n\(use) = [\"staff\"]\n" + group)
    }
    let admitted = try found("allow_groups")
    #expect(admitted.count == 1, "\(admitted)")
    let said = "members_file: provider-members.txt: \"@Outlook.com\" is a mail provider's domain"
    #expect(admitted.first?.contains(said) == true, "\(admitted)")
    #expect(try found("deny_groups") == [])
  }

  @Test("A store whose folder is not there is a warning with the command that creates it")
  func storeFolder() throws {
    var files = Sandbox.files
    files.hasFolder = { $0 == "/var/lib/cordon" }
    #expect(try warnings(text(), files: files) == [])
    let found = try warnings(text(store: "sqlite:/srv/nowhere/cordon.db"), files: files)
    #expect(found.count == 1 && found[0].contains("install -d -m 0700 -o USER /srv/nowhere"), "\(found)")
  }

  @Test("A folder in the place of the store is a warning, and so is a file that is no database")
  func storeFile() throws {
    for (outcome, words) in [
      (FileAccess.StoreFile.notRegular, "is a folder"), (.notDatabase, "is not an SQLite database"),
    ] {
      var files = Sandbox.files
      files.store = { _ in outcome }
      let found = try warnings(text(), files: files)
      #expect(found.count == 1 && found[0].hasPrefix("gateway.conf:14:1: warning: /var/lib/cordon/cordon.db \(words)"))
    }
  }

  @Test("A Unix socket whose folder is not there is a warning, of each listener and of the admin listener")
  func socketFolder() throws {
    let sockets =
      text().replacing("\"127.0.0.1:8080\"", with: "\"unix:/run/app/in.sock\"") + """
        [[listener]]
        name = "beside"
        address = "unix:/run/app/beside.sock"
        [admin]
        address = "unix:/run/cordon/admin.sock"

        """
    var files = Sandbox.files
    files.hasFolder = { $0 != "/run/app" && $0 != "/run/cordon" }
    let found = try warnings(sockets, files: files)
    #expect(found.count == 3, "\(found)")
    for (warning, place) in zip(found, ["gateway.conf:3:1", "gateway.conf:17:1", "gateway.conf:19:1"]) {
      #expect(warning.hasPrefix("\(place): warning: there is no folder /run/"), "\(warning)")
    }
    #expect(try warnings(sockets) == [])
  }

  @Test("A folder that systemd makes for the gateway's unit is no warning, and one that it does not make is")
  func foldersOfUnit() throws {
    func found(
      _ unit: FileAccess.Outcome, at place: String, socket: String = "/run/cordon/admin.sock"
    ) throws -> [String] {
      var files = Sandbox.files
      files.hasFolder = { _ in false }
      files.read = { path, limit in path == place ? unit : Sandbox.files.read(path, limit) }
      return try warnings(text() + "[admin]\naddress = \"unix:\(socket)\"\n", files: files)
    }
    func unit(_ lines: String...) -> FileAccess.Outcome {
      .contents(Array((["[Service]"] + lines + ["UMask=0077", ""]).joined(separator: "\n").utf8), mode: 0o644)
    }
    let installed = "/usr/lib/systemd/system/cordon.service"
    let complete = unit("StateDirectory=cordon", "RuntimeDirectory=other cordon")
    for place in [installed, "/lib/systemd/system/cordon.service", "/etc/systemd/system/cordon.service"] {
      #expect(try found(complete, at: place) == [])
    }
    #expect(try found(.missing, at: installed).count == 2)
    #expect(try found(complete, at: "/usr/lib/systemd/system/other.service").count == 2)
    for socket in ["/run/app/admin.sock", "/run/cordon/app/admin.sock", "/srv/cordon/admin.sock"] {
      let warnings = try found(complete, at: installed, socket: socket)
      #expect(warnings.count == 1 && warnings[0].contains("there is no folder \(socket.dropLast(11)) "), "\(warnings)")
    }
    let stateless = try found(unit("RuntimeDirectory=cordon"), at: installed)
    #expect(stateless.count == 1 && stateless[0].contains("there is no folder /var/lib/cordon "), "\(stateless)")
    let reset = try found(
      unit("StateDirectory=cordon", "RuntimeDirectory=cordon", "RuntimeDirectory=", "RuntimeDirectory=cordon-2"),
      at: installed)
    #expect(reset.count == 1 && reset[0].contains("there is no folder /run/cordon "), "\(reset)")
    // A masked unit starts nothing.
    #expect(try found(.notRegular, at: "/etc/systemd/system/cordon.service").count == 2)
  }

  /// Certificates that were made for these tests, and whose keys are gone.
  private static let pinned = """
    -----BEGIN CERTIFICATE-----
    MIIBdzCCARygAwIBAgIUOtjiitv+A9pyBhQmD+ypZ1XXXk8wCgYIKoZIzj0EAwIw
    ETEPMA0GA1UEAwwGcGlubmVkMCAXDTI2MTEyOTE2MDQzNFoYDzIxMjYxMTA1MTYw
    NDM0WjARMQ8wDQYDVQQDDAZwaW5uZWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
    AAQqg3r85R3po9NRXTH87eeZlXecxTI/NLLEXJCCDLx8eX7ZnOJUUlGHQlz/71gn
    8M7oj4TZ721bTf7Ijp3h66AQo1AwTjAdBgNVHQ4EFgQUacOADgSsGDVXft8xKT6Z
    Vmk5GdEwHwYDVR0jBBgwFoAUacOADgSsGDVXft8xKT6ZVmk5GdEwDAYDVR0TAQH/
    BAIwADAKBggqhkjOPQQDAgNJADBGAiEA5lj299z7IS+yEpADM+6J9zi09uoNEAFq
    /JBI3ElwdaMCIQDv282TU9mCG8FZzYbxhgldwoGg+YM2gmUfUfh2+ziMrQ==
    -----END CERTIFICATE-----

    """
  private static let authority = """
    -----BEGIN CERTIFICATE-----
    MIIBgDCCASWgAwIBAgIUAtYw2xqyBX9vhU6avmRBOyDnxq8wCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJYXV0aG9yaXR5MCAXDTI2MTEyOTE2MDQzNFoYDzIxMjYxMTA1
    MTYwNDM0WjAUMRIwEAYDVQQDDAlhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAAQGQk6PL+zOPBp0yrZPNAd8DGt2BqWlfgpiITPVPUDDFmKJ1M4P5xAA
    /llfA4/S948tH64aQxsI9Mtu3z85Dq//o1MwUTAdBgNVHQ4EFgQUvgH04P6xTJ7Q
    34XaiKiBSfix+q8wHwYDVR0jBBgwFoAUvgH04P6xTJ7Q34XaiKiBSfix+q8wDwYD
    VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA/XolQ3AXo8oKTYo+XYFL
    o/c/dokZ6U64enOoH+JGRLMCIQCHGWKVWYemJ9h2SInKoKaDylrsYaOQyB3kDHXo
    j3s2hw==
    -----END CERTIFICATE-----

    """

  /// The warnings of a configuration with three files of CAs, for clients, the upstream and Apple, with these contents.
  private func warnings(authorities contents: String) throws -> [String] {
    let all =
      text().replacing("\"http://127.0.0.1:3000\"", with: "\"https://10.0.0.1\"\ntls_ca_file = \"tls/internal-ca.pem\"")
      .replacing("key_id =", with: "tls_ca_file = \"tls/egress-ca.pem\"\nkey_id =")
      .replacing(
        "\"127.0.0.1:8080\"",
        with: """
          "127.0.0.1:8080"
          tls_certificate_file = "tls/fullchain.pem"
          tls_private_key_file = "tls/privkey.pem"
          tls_client_ca_file = "tls/clients.pem"
          """)
    let bytes = Array(contents.utf8)
    var files = Sandbox.files
    files.read = { path, limit in
      guard ["/conf/tls/internal-ca.pem", "/conf/tls/egress-ca.pem", "/conf/tls/clients.pem"].contains(path) else {
        return Sandbox.files.read(path, limit)
      }
      return bytes.count <= limit ? .contents(bytes, mode: 0o644) : .tooLong
    }
    return try warnings(all, files: files)
  }

  @Test("A file of CAs as large as those of whole systems is accepted, and one of more than 1 MiB is not")
  func largeAuthorityFiles() throws {
    let length = Self.authority.utf8.count
    // Debian's /etc/ssl/certs/ca-certificates.crt has about 220 KiB.
    for size in [220 << 10, 1 << 20] {
      #expect(try warnings(authorities: String(repeating: Self.authority, count: size / length)) == [])
    }
    let error = try #require(throws: ConfigurationError.self) {
      try warnings(authorities: String(repeating: Self.authority, count: (1 << 20) / length + 1))
    }
    #expect(error.problems.map(\.problem).filter { $0.hasSuffix(".pem has more than 1 MiB") }.count == 3, "\(error)")
  }

  @Test("A file of CAs without a CA is a warning, for Apple, upstreams and clients, and one with a CA is none")
  func pinnedCertificates() throws {
    let pinned = try warnings(authorities: Self.pinned)
    #expect(pinned.count == 3, "\(pinned)")
    for (warning, key) in zip(pinned, ["listen.tls_client_ca_file", "upstream.tls_ca_file", "apple.tls_ca_file"]) {
      #expect(warning.contains("warning: \(key): tls/") && warning.contains("holds no CA certificate"), "\(warning)")
      #expect(warning.contains("unless these alone are meant"))
    }
    for contents in [Self.authority, Self.pinned + Self.authority] {
      #expect(try warnings(authorities: contents) == [])
    }
    // What cannot be read is not judged here.
    #expect(try warnings(authorities: "-----BEGIN CERTIFICATE-----\nMII…") == [])
  }

  @Test("A configuration that every user may write is a warning")
  func writableByAll() throws {
    func found(mode: UInt32) throws -> [String] {
      try Sandbox.check(text().utf8, mode: mode).warnings.map(\.description)
    }
    for mode in [0o600, 0o640, 0o664] as [UInt32] { #expect(try found(mode: mode) == []) }
    for mode in [0o602, 0o666] as [UInt32] { #expect(try found(mode: mode).first?.contains("chmod o-w") == true) }
  }

  @Test("A start has the warnings of a check, and does not look at the places of the store and of Unix sockets")
  func warningsOfStart() throws {
    let path = Sandbox.directory + "/gateway.conf"
    let contents = Array((text(keyID: "ZZZ123DEFG") + "[admin]\naddress = \"unix:/run/app/admin.sock\"\n").utf8)
    var files = Sandbox.files
    files.read = { name, limit in
      name == path ? .contents(contents, mode: 0o666) : Sandbox.files.read(name, limit)
    }
    let checked = try ConfigurationFile.check(path, environment: Sandbox.environment, files: files)
    let found = checked.warnings.map(\.description)
    #expect(found.count == 2 && found.first?.contains("chmod o-w") == true, "\(found)")
    files.hasFolder = { folder in
      Issue.record("a look at \(folder)")
      return false
    }
    files.store = { file in
      Issue.record("a look at \(file)")
      return .notDatabase
    }
    let start = try ConfigurationFile.loadWithWarnings(path, environment: Sandbox.environment, files: files)
    #expect(start.warnings.map(\.description) == found)
  }

  @Test(
    "A PostgreSQL server on the network without sslmode is a warning",
    arguments: [
      ("postgresql://cordon@db.internal/cordon", true), ("postgres://u:p@10.0.0.7:5432/c?connect_timeout=3", true),
      ("postgresql://db1,db2:5433/c", true), ("postgresql://localhost,db2/c", true),
      ("postgresql://u@/c?host=db.internal", true), ("postgresql://u@[2001:db8::1]/c", true),
      ("postgresql://db.internal", true), ("postgresql:///c?hostaddr=10.0.0.5", true),
      ("postgresql://db.internal/c?hostaddr=127.0.0.1", false),
      ("postgresql://db.internal/c?sslmode=verify-full", false), ("postgresql://db/c?a=b&sslmode=disable", false),
      ("postgresql://u:p@localhost:5432/c", false), ("postgresql://127.0.0.1/c", false),
      ("postgresql://[::1]/c", false), ("postgresql:///c", false), ("postgresql:///c?host=/run/postgresql", false),
      ("postgresql://u@%2Frun%2Fpostgresql/c", false), ("postgresql://x/c?service=cordon", false),
    ] as [(String, Bool)])
  func storeInCleartext(url: String, isWarning: Bool) throws {
    let found = try warnings(text(store: url))
    #expect(found.contains { $0.contains("?sslmode=verify-full") } == isWarning, "\(found)")
    #expect(found.count == (isWarning ? 1 : 0))
  }

  @Test("The identifier of a key is in the name that Apple gives to its file, and in no other")
  func keyNames() {
    #expect(AppleKeyFile.keyID(inNameOf: "/etc/cordon/AuthKey_ABC123DEFG.p8") == "ABC123DEFG")
    for other in ["AuthKey.p8", "AuthKey_ABC.p8", "AuthKey_ABC123DEFG.pem", "AuthKey_ABC123DEFG.p8/x", ""] {
      #expect(AppleKeyFile.keyID(inNameOf: other) == nil, "\(other)")
    }
  }
}
