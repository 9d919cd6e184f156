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
    return try Sandbox.check(text.utf8).warnings.map(\.description)
  }

  @Test("A subject without a dot is a warning in each list, and subjects with dots, addresses and domains are none")
  func subjects() throws {
    let group = "[access]\nallow_groups = [\"staff\"]\n[[group]]\nname = \"staff\"\n"
    let members = group + "members = [\"001.ada\", \"ada@example.com\", \"@example.com\", "
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

  @Test("A subject with capital letters, quotation marks or other signs is a warning in each list")
  func unusualSubjects() throws {
    let group = "[access]\nallow_groups = [\"staff\"]\n[[group]]\nname = \"staff\"\nmembers = [\"001.a\", "
    for subject in ["001234.0123456789ABCDEF0123456789ABCDEF.0123", "'001234.a.0123'", "001234.a*", "001234-a.0123"] {
      for list in ["allow_subjects", "deny_subjects"] {
        for table in ["[access]", "[[route]]\npath = \"/a/\""] {
          let found = try warnings("\(table)\n\(list) = [\"001.a\", \"\(subject)\"]\n")
          #expect(found.count == 1 && found[0].contains("\"\(subject)\" is read as a subject"), "\(list): \(found)")
        }
      }
      if subject.utf8.contains(UInt8(ascii: "*")) { continue }
      let found = try warnings(group + "\"\(subject)\"]\n")
      #expect(found.count == 1 && found[0].contains("\"\(subject)\" is read as a subject"), "\(found)")
    }
    let domain = try warnings(group + "\"Staff.Example.com\"]\n")
    #expect(domain.count == 1 && domain[0].contains("looks like a domain"), "\(domain)")
  }

  @Test("A subject with a space or a character beyond ASCII is refused in each list, and at its entry")
  func impossibleSubjects() throws {
    for subject in ["001.a ", "001.a\u{200B}"] {
      for list in ["allow_subjects", "deny_subjects"] {
        for table in ["[access]", "[[route]]\npath = \"/a/\""] {
          let found = try problem("\(table)\n\(list) = [\"001.b\", \"\(subject)\"]\n")
          #expect(
            found.contains("entry 2 of \(list) has a") && !found.contains("\n")
              && found.contains("write the subject as `cordon accounts list` shows it"), "\(found)")
        }
      }
      let group = try problem("[[group]]\nname = \"staff\"\nmembers = [\"\(subject)\"]\n")
      #expect(group.contains("is neither a subject, an e-mail address nor a domain"), "\(group)")
    }
  }

  @Test("A host without the port of public_url is a warning, and one with any port or beside the default port is none")
  func hostsWithoutPort() throws {
    let publicURL = "https://app.example.com:21301"
    func host(_ name: String) -> String { "[[host]]\nname = \"\(name)\"\n" }
    let found = try warnings(host("wiki.example.com"), publicURL: publicURL)
    #expect(found.count == 1, "\(found)")
    #expect(found.first?.hasPrefix("gateway.conf:15:1: warning: \"wiki.example.com\" is port 443") == true, "\(found)")
    #expect(found.first?.contains("write \"wiki.example.com:21301\", unless") == true, "\(found)")
    for name in ["wiki.example.com:21301", "wiki.example.com:8443"] {
      #expect(try warnings(host(name), publicURL: publicURL) == [])
    }
    #expect(try warnings(host("wiki.example.com:8443") + host("tickets.example.com")) == [])
  }

  @Test("A host that is public_url or another host on another port is a warning: browsers do not tell ports apart")
  func hostsOfOneName() throws {
    func host(_ name: String) -> String { "[[host]]\nname = \"\(name)\"\n" }
    let own = try warnings(host("App.example.com:8443"))
    #expect(own.count == 1, "\(own)")
    #expect(own.first?.contains("\"app.example.com:8443\" is \"app.example.com\" on another port") == true, "\(own)")
    let other = try warnings(host("wiki.example.com") + host("wiki.example.com:8443") + host("wiki.example.com:9443"))
    #expect(other.count == 2, "\(other)")
    #expect(other.allSatisfy { $0.contains("is \"wiki.example.com\" on another port") }, "\(other)")
    #expect(try warnings(host("wiki.example.com:8443") + host("tickets.example.com:8443")) == [])
  }

  @Test("A host that is believed of X-Original-URL alone is a warning where there is a [[host]]")
  func hostOfClient() throws {
    let host = "[[host]]\nname = \"wiki.example.com\"\n"
    func believing(_ sources: String) -> String { "[verify]\nbelieve = [\(sources)]\n" }
    let found = try warnings(believing("\"X-Original-URL\", \"X-Forwarded-For\"") + host)
    #expect(found.count == 1 && found[0].contains("X-Original-URL without X-Forwarded-Host"), "\(found)")
    for sources in ["\"X-Original-URL\", \"X-Forwarded-Host\"", "\"X-Original-URI\""] {
      #expect(try warnings(believing(sources) + host) == [], "\(sources)")
    }
    #expect(try warnings(believing("\"X-Original-URL\"")) == [])
  }

  @Test("Groups that no list names, where nothing else says who may come in, are a warning")
  func unusedGroups() throws {
    let group = "[[group]]\nname = \"staff\"\nmembers = [\"ada@example.com\"]\n"
    let found = try warnings(group)
    #expect(found.count == 1 && found[0].contains("no allow_groups names one: they restrict nothing;"), "\(found)")
    for lists in ["allow_groups = [\"staff\"]", "deny_groups = [\"staff\"]", "allow_emails = [\"ada@example.com\"]"] {
      #expect(try warnings("[access]\n\(lists)\n" + group) == [])
      #expect(try warnings(group + "[[route]]\npath = \"/a/\"\n\(lists)\n") == [])
    }
    let open = "[[route]]\npath = \"/a/\"\naccess = \"signed-in\"\n"
    #expect(try warnings(group + open).count == 1)
    #expect(try warnings(group + open + "[[route]]\npath = \"/\"\naccess = \"deny\"\n") == [])
  }

  @Test("A return scheme without a dot is a warning, and the reverse of a domain name is none")
  func returnSchemes() throws {
    #expect(try warnings("[native]\nreturn_schemes = [\"com.example.app\", \"org.example\"]\n") == [])
    let found = try warnings("[native]\nreturn_schemes = [\"market\", \"com.example.app\", \"chrome-extension\"]\n")
    #expect(found.count == 2, "\(found)")
    for (warning, scheme) in zip(found, ["market", "chrome-extension"]) {
      #expect(warning.hasPrefix("gateway.conf:15:1: warning: the scheme \"\(scheme)\" has no dot"), "\(warning)")
    }
  }

  @Test("An upstream that is public_url is a warning, and any other is none")
  func loops() throws {
    let found = try warnings(upstream: "https://app.example.com")
    #expect(found.count == 1 && found[0].contains("requests would come back to the gateway"), "\(found)")
    for upstream in ["http://10.0.0.1:8080", "http://app.example.com", "https://app.example.com:8443"] {
      #expect(try warnings(upstream: upstream) == [])
    }
  }

  @Test("An Apple on this machine is a warning for a public_url elsewhere, and a trailing slash is dropped")
  func localApple() throws {
    let local = "base_url = \"http://127.0.0.1:8090/\""
    let found = try warnings(apple: local)
    #expect(found.count == 1 && found[0].contains("apple.base_url is on this machine"), "\(found)")
    #expect(try warnings(publicURL: "http://localhost:8080", apple: local) == [])
    #expect(try warnings(publicURL: "https://localhost:8080", apple: local) == [])
    #expect(try warnings(apple: "base_url = \"https://apple.example.com/\"") == [])
  }

  @Test("A proxy that is every address is a warning, on each listener and for each way to say it")
  func everybodyIsProxy() throws {
    let other = "[[listener]]\nname = \"other\"\naddress = \"127.0.0.1:8081\"\n"
    for table in ["[listen]", other] {
      for key in ["trusted_proxies", "proxy_protocol_from"] {
        for (network, isWarned) in [("0.0.0.0/0", true), ("::/0", true), ("0.0.0.0/1", false), ("::/96", false)] {
          let line = "\(key) = [\"10.0.0.1\", \"\(network)\"]"
          let found =
            table == "[listen]"
            ? try warnings(listen: "127.0.0.1:8080\"\n\(line)\n#\"") : try warnings(table + line + "\n")
          #expect(found.count == (isWarned ? 1 : 0), "\(table) \(line): \(found)")
          if isWarned { #expect(found.first?.contains("\(network) is every address") == true, "\(found)") }
        }
      }
    }
  }

  @Test("Networks of clients in larger ones of proxies are a warning, for each way to say it")
  func clientsAmongProxies() throws {
    let route = "[[route]]\npath = \"/a/\"\nnetworks = [\"192.0.2.0/24\", \"10.5.0.0/16\"]\n"
    for key in ["trusted_proxies", "proxy_protocol_from"] {
      for (network, isWarned) in [
        ("10.0.0.0/8", true), ("10.4.0.0/15", true), ("10.5.0.0/16", false), ("10.5.0.1", false),
        ("172.16.0.0/12", false), ("10.6.0.0/15", false),
      ] {
        for rest in [route, "[access]\nnetworks = [\"10.5.0.0/16\"]\n"] {
          let found = try warnings(rest, listen: "127.0.0.1:8080\"\n\(key) = [\"10.9.0.1\", \"\(network)\"]\n#\"")
          #expect(found.count == (isWarned ? 1 : 0), "\(key) \(network) \(rest): \(found)")
          if isWarned {
            #expect(found.first?.contains("\(network) includes 10.5.0.0/16, which") == true, "\(found)")
          }
        }
      }
    }
  }

  @Test("Networks in those of proxies are no warning where they are this machine's, or where all clients are admitted")
  func harmlessNetworksOfProxies() throws {
    for (proxies, networks) in [
      ("127.0.0.0/8", "\"127.0.0.1\", \"::1\""), ("10.0.0.0/8", "\"10.5.0.0/16\", \"10.0.0.0/8\""),
      ("10.5.0.0/16", "\"10.5.6.0/24\", \"10.0.0.0/8\""),
    ] {
      let listen = "127.0.0.1:8080\"\ntrusted_proxies = [\"\(proxies)\"]\n#\""
      let route = "[[route]]\npath = \"/a/\"\nnetworks = [\(networks)]\n"
      #expect(try warnings(route, listen: listen) == [], "\(proxies)")
      // Another route's condition that admits all does not help.
      let other = "[[route]]\npath = \"/b/\"\nnetworks = [\"10.5.6.7\"]\n"
      #expect(try warnings(route + other, listen: listen).count == (proxies.hasPrefix("10.") ? 1 : 0), "\(proxies)")
    }
  }

  private func problem(
    _ rest: String = "", publicURL: String = "https://app.example.com", listen: String = "127.0.0.1:8080",
    upstream: String = "http://127.0.0.1:3000"
  ) throws -> String {
    do {
      _ = try warnings(rest, publicURL: publicURL, listen: listen, upstream: upstream)
      return "none"
    } catch let error as ConfigurationError {
      return error.problems.map(\.description).joined(separator: "\n")
    }
  }

  @Test("An address among subjects and a pattern among addresses would match nobody, and are refused")
  func misplaced() throws {
    for table in ["[access]", "[[route]]\npath = \"/a/\""] {
      for (line, said) in [
        ("deny_subjects = [\"001.a\", \"ada@example.com\"]", "write it in deny_emails, or its domain in a group that"),
        ("deny_subjects = [\"@example.com\"]", "write it in deny_emails, or its domain in a group that"),
        ("allow_subjects = [\"ada@example.com\"]", "write it in allow_emails"),
        ("deny_emails = [\"*@example.com\"]", "not patterns; write the domain in a group that deny_groups names"),
        ("allow_emails = [\"*@example.com\"]", "write the domain in allow_email_domains"),
      ] {
        let found = try problem("\(table)\n\(line)\n")
        #expect(found.contains(said) && !found.contains("\n"), "\(line): \(found)")
      }
    }
  }

  @Test("An upstream that is the admin listener would make everybody an administrator, and is refused")
  func administrationBehindGateway() throws {
    let admin = "[admin]\naddress = "
    for (upstream, rest) in [
      ("http://127.0.0.1:9901", ""), ("http://0.0.0.0:9901", ""),
      ("http://localhost:9902", admin + "\"0.0.0.0:9902\"\n"),
      ("unix:/run/admin.sock", admin + "\"unix:/run/admin.sock\"\n"),
      ("http://127.0.0.1:3000", "[[upstreams]]\nname = \"a\"\nurl = \"http://[::1]:9901\"\n"),
    ] {
      let found = try problem(rest, upstream: upstream)
      #expect(found.contains("is the gateway's admin listener"), "\(upstream): \(found)")
    }
    #expect(try problem(upstream: "http://127.0.0.1:9902") == "none")
    #expect(try problem(upstream: "http://0.0.0.0:8080").contains("is the gateway's own listener"))
  }

  @Test("A TLS setting of an upstream with an address in cleartext is refused, and with https: it is none")
  func cleartextUpstream() throws {
    let pair = "tls_certificate_file = \"tls/gateway.pem\"\ntls_private_key_file = \"tls/gateway.key\""
    for (key, lines) in [
      ("tls_ca_file", "tls_ca_file = \"tls/internal-ca.pem\""),
      ("tls_server_name", "tls_server_name = \"app.internal\""), ("tls_certificate_file", pair),
    ] {
      func main(_ address: String) throws -> String { try problem(upstream: "\(address)\"\n\(lines)\n#\"") }
      func other(_ addresses: String) throws -> String {
        try problem("[[upstreams]]\nname = \"a\"\n\(addresses)\n\(lines)\n")
      }
      for address in ["http://10.0.0.1:3000", "unix:/run/app.sock"] {
        let said = "\(key) is for https:, and \(address) is not; write https:// in the address, or remove the keys"
        for found in [
          try main(address), try other("url = \"\(address)\""),
          try other("urls = [\"https://10.0.0.2\", \"\(address)\"]"),
        ] { #expect(found.contains(said) && !found.contains("\n"), "\(key): \(found)") }
      }
      #expect(try main("https://10.0.0.1:3000") == "none")
      #expect(try other("urls = [\"https://10.0.0.2\", \"https://10.0.0.3\"]") == "none")
    }
  }

  @Test("A cookie of the gateway by session.cookie_name is refused among the cookies of each upstream")
  func gatewayCookies() throws {
    // The table [session] ends the other lines.
    let name = "cookie_name = \"__Host-gate\"\n"
    func main(_ cookie: String) throws -> String {
      try problem(name, upstream: "http://127.0.0.1:3000\"\nend_cookies = [\"sid\", \"\(cookie)\"]\n#\"")
    }
    func other(_ cookie: String) throws -> String {
      try problem(
        name + "[[upstreams]]\nname = \"a\"\nurl = \"http://127.0.0.1:3001\"\nend_cookies = [\"\(cookie)\"]\n")
    }
    for cookie in ["__Host-gate", "__Host-gate-last", "__host-GATE-visit-x", "__Host-gate; Path=/"] {
      for found in [try main(cookie), try other(cookie)] {
        #expect(found.contains("is a cookie of the gateway") && !found.contains("\n"), "\(cookie): \(found)")
      }
    }
    for cookie in ["__Host-gates", "__Host-g", "gate", "gate-last"] {
      #expect(try main(cookie) == "none", "\(cookie)")
      #expect(try other(cookie) == "none", "\(cookie)")
    }
    #expect(try main("__Host-cordon").contains("is a cookie of the gateway"))
  }

  @Test("A pattern among the session cookies of an upstream is refused: no cookie of the application would be ended")
  func cookiePatterns() throws {
    for cookie in ["wordpress_logged_in_*", "*", "*; Path=/shop"] {
      let found = try problem(upstream: "http://127.0.0.1:3000\"\nend_cookies = [\"sid\", \"\(cookie)\"]\n#\"")
      #expect(found.contains("\"\(cookie)\" looks like a pattern") && !found.contains("\n"), "\(cookie): \(found)")
    }
    #expect(try problem(upstream: "http://127.0.0.1:3000\"\nend_cookies = [\"sid; Path=/a*\"]\n#\"") == "none")
  }

  @Test("A kept header that names a path prefix is refused in any spelling, and one that names the path is a warning")
  func keptPaths() throws {
    func keeping(_ name: String) -> String { "[identity]\nkeep_headers = [\"X-Real-IP\", \"\(name)\"]\n" }
    for name in [
      "X-Forwarded-Prefix", "x_forwarded_prefix", "X-Forwarded-Script-Name", "X-Forwarded-Path", "Script-Name",
      "X-Script-Name", "Path-Info", "Daphne-Root-Path",
    ] {
      let found = try problem(keeping(name))
      #expect(found.contains("\(name) would let clients choose the path") && !found.contains("\n"), "\(found)")
      let isOfProxy = name.hasPrefix("X-F") || name.hasPrefix("x_f")
      #expect(found.contains("listen.trusted_proxies") == isOfProxy, "\(found)")
    }
    for name in ["X-Forwarded-Uri", "X-Original-URI"] {
      let found = try warnings(keeping(name))
      #expect(found.count == 1 && found[0].contains("\(name) of any client is forwarded"), "\(found)")
    }
    #expect(try warnings(keeping("X-Forwarded-Port")) == [])
  }

  @Test("A kept header about the user is a warning in any spelling, unless a trusted proxy may overwrite it")
  func keptUsers() throws {
    for name in ["Remote-User", "x_remote_user", "X-WEBAUTH-USER", "X-Auth-Request-Email", "SSL-Client-Verify"] {
      let keeping = "[identity]\nkeep_headers = [\"X-Real-IP\", \"\(name)\"]\n"
      let found = try warnings(keeping)
      #expect(found.count == 1 && found[0].contains("\(name) of any client is forwarded"), "\(found)")
      #expect(found.first?.contains("write what the application reads into [identity.headers]") == true, "\(found)")
      let behindProxy = try warnings(keeping, listen: "127.0.0.1:8080\"\ntrusted_proxies = [\"10.0.0.1\"]\n#\"")
      #expect(behindProxy.isEmpty, "\(behindProxy)")
    }
  }

  @Test("A response header with the name of an identity header, an assertion or a sign-in address is refused")
  func responseHeadersOfIdentity() throws {
    for name in ["X-Forwarded-Email", "x_forwarded_user", "X_Identity_Assertion", "x-auth-sign-in"] {
      let found = try problem("[headers]\n\(name) = \"boss@example.com\"\n")
      #expect(found.hasPrefix("gateway.conf:15:1: headers: ") && found.contains(name), "\(found)")
      #expect(!found.contains("\n"), "\(found)")
    }
    let own = "[identity.headers]\nX-User = \"sub\"\n[headers]\n"
    #expect(try problem(own + "x_user = \"boss\"\n").contains("x_user is an identity header"))
    #expect(try problem(own + "X-Forwarded-Email = \"boss@example.com\"\nX-Users = \"3\"\n") == "none")
  }

  @Test("A route's host without the port is answered with the host that has it, and not with a host without it")
  func routeHostWithoutPort() throws {
    let publicURL = "https://app.example.com:21301"
    let route = "[[route]]\npath = \"/a/\"\nhost = \"wiki.example.com\"\n"
    let known = try problem("[[host]]\nname = \"wiki.example.com:21301\"\n" + route, publicURL: publicURL)
    #expect(known.hasSuffix("did you mean \"wiki.example.com:21301\"?"), "\(known)")
    #expect(!known.contains("\n"), "\(known)")
    let unknown = try problem(route, publicURL: publicURL)
    #expect(unknown.contains("write [[host]] with name = \"wiki.example.com:21301\", and the same here"), "\(unknown)")
  }

  @Test(
    "A table whose name is in the plural or mistyped is answered with the name and the brackets that were meant",
    arguments: [
      ("[[routes]]", "[[route]]"), ("[[groups]]", "[[group]]"), ("[[hosts]]", "[[host]]"),
      ("[[listeners]]", "[[listener]]"), ("[[upstreems]]", "[[upstreams]]"), ("[rout]", "[[route]]"),
      ("[[listen.certificates]]", "[[listen.certificate]]"), ("[acess]", "[access]"),
    ])
  func misnamedTables(written: String, meant: String) throws {
    let found = try problem("\(written)\nname = \"a\"\n")
    #expect(found.contains("there is no table \(written); did you mean \(meant)?"), "\(found)")
  }

  @Test("Usual mistakes are answered with what to write")
  func remedies() throws {
    let url = try problem(listen: "http://127.0.0.1:3000")
    #expect(url.contains("leave out \"http://\": \"127.0.0.1:3000\""), "\(url)")
    let colour = try problem("[log]\ncolour = true\n")
    #expect(colour.contains("the keys of [log] are ") && !colour.contains("button"), "\(colour)")
    let unlike = try problem("[revalidation]\nevery = 1\n")
    #expect(unlike.contains("the keys of [revalidation] are interval, grace"), "\(unlike)")
    let joined = try problem("[pages]\nbuttonshape = 1\n")
    #expect(joined.contains("did you mean pages.button.shape?"), "\(joined)")
    let path = try problem("[[route]]\npath = \"api\"\naccess = \"public\"\n")
    #expect(path.contains("write \"/api\""), "\(path)")
    let store = try problem("[store]\nurl = \"sqlite:///var/lib/cordon/cordon.db\"\n")
    #expect(store.contains("write one colon and the path"), "\(store)")
  }
}
