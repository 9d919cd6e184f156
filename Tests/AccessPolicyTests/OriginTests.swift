import AccessPolicy
import Testing

@Suite("The public origin and the authorities")
struct OriginTests {
  @Test(
    "An origin is a scheme, a host and a port",
    arguments: [
      ("https://app.example.com", "https://app.example.com", "app.example.com"),
      ("HTTPS://App.Example.COM/", "https://app.example.com", "app.example.com"),
      ("https://app.example.com:443", "https://app.example.com", "app.example.com"),
      ("https://app.example.com:8443", "https://app.example.com:8443", "app.example.com:8443"),
      ("http://localhost:8080", "http://localhost:8080", "localhost:8080"),
      ("http://127.0.0.1", "http://127.0.0.1", "127.0.0.1"), ("http://127.9.8.7:80", "http://127.9.8.7", "127.9.8.7"),
      ("http://app.localhost:3000", "http://app.localhost:3000", "app.localhost:3000"),
      ("http://[::1]:8080", "http://[::1]:8080", "[::1]:8080"),
      ("https://[2001:DB8::1]", "https://[2001:db8::1]", "[2001:db8::1]"),
      ("https://under_score-x.example", "https://under_score-x.example", "under_score-x.example"),
    ])
  func parsed(text: String, description: String, authority: String) throws {
    let origin = try PublicOrigin(parsing: text)
    #expect(origin.description == description)
    #expect(origin.authority == authority)
    #expect(origin.isLoopback == (origin.scheme == .http))
  }

  @Test(
    "A value that is not an origin is a problem with a remedy",
    arguments: [
      ("app.example.com", .scheme), ("", .scheme), ("ftp://x", .scheme), ("https:/x", .scheme), ("//x", .scheme),
      (" https://x", .scheme),
      ("https://user@app.example.com", .userInformation), ("https://u:p@x", .userInformation), ("https://x/app", .path),
      ("https://x//", .path), ("https://x?y", .path), ("https://x#y", .path), ("https://x\\y", .path),
      ("https://", .authority),
      ("https://:443", .authority), ("https://x:", .authority), ("https://x:0", .authority),
      ("https://x:65536", .authority),
      ("https://x:99999999999999999999", .authority), ("https://x:+5", .authority), ("https://x:0443", .authority),
      ("https://x.", .authority), ("https://.x", .authority), ("https://a..b", .authority), ("https://a b", .authority),
      ("https://\u{E9}.example", .authority), ("https://x%2ey", .authority), ("https://[::1", .authority),
      ("https://[::1]x", .authority),
      ("https://[x]", .authority), ("https://1.2.3", .authority), ("https://0x7f.1", .authority),
      ("https://256.1.1.1", .authority),
      ("https://2130706433", .authority), ("https://a,b", .authority), ("http://app.example.com", .plainHTTP),
      ("http://localhost.example.com", .plainHTTP), ("http://127.0.0.1.example.com", .plainHTTP),
      ("http://notlocalhost", .plainHTTP),
    ] as [(String, PublicOriginError)])
  func problem(text: String, problem: PublicOriginError) {
    #expect(throws: problem) { try PublicOrigin(parsing: text) }
    #expect(!problem.problem.isEmpty && !problem.remedy.isEmpty)
  }

  @Test("A request may be addressed to the public authority, its default port said or not, in any case")
  func publicAuthority() throws {
    let list = try AuthorityList(origin: PublicOrigin(parsing: "https://app.example.com"))
    for good in ["app.example.com", "APP.example.COM", "app.example.com:443"] { #expect(match(list, good), "\(good)") }
    for bad in [
      "", "app.example.com.", "app.example.com:", "app.example.com:80", "app.example.com:0443", "app.example.com:8443",
      "app.example.co",
      "xapp.example.com", "app.example.com:443:443", "app.example.com:443x", "u@app.example.com", "app.example.com/",
      "app.example.com ",
      " app.example.com", "app.example.com,evil", "app.example.com\u{0}", "\u{FF41}pp.example.com", "evil.test",
      "app.example.com:18446744073709552059",
    ] {
      #expect(!match(list, bad), "\(bad)")
    }
  }

  @Test("Listed hosts are accepted beside it, each with its own port")
  func listed() throws {
    let list = try AuthorityList(
      origin: PublicOrigin(parsing: "https://app.example.com:8443"),
      hosts: ["internal", "Other.example:81", "[::1]:9", "10.0.0.1"])
    for good in ["app.example.com:8443", "internal", "internal:443", "other.example:81", "[::1]:9", "10.0.0.1:443"] {
      #expect(match(list, good), "\(good)")
    }
    for bad in ["app.example.com", "internal:81", "other.example", "[::1]", "[::2]:9", "::1:9", "10.0.0.1:80"] {
      #expect(!match(list, bad), "\(bad)")
    }
  }

  @Test("An authority stands for public_url, an alias or one further host, in any case and with its port")
  func places() throws {
    let sites = try ["https://wiki.example.com", "https://tickets.example.com:8443", "https://wiki.example.co"]
      .map { try PublicOrigin(parsing: $0) }
    let list = try AuthorityList(
      origin: PublicOrigin(parsing: "https://app.example.com"), hosts: ["old.example.com"], sites: sites)
    let expected: [(String, AuthorityList.Place?)] = [
      ("app.example.com", .publicURL), ("APP.example.com:443", .publicURL), ("old.example.com", .alias),
      ("wiki.example.com", .site(0)), ("Wiki.Example.COM:443", .site(0)), ("tickets.example.com:8443", .site(1)),
      ("wiki.example.co", .site(2)), ("tickets.example.com", nil), ("wiki.example.com:80", nil),
      ("wiki.example.com.", nil), ("wiki.example", nil), ("x.wiki.example.com", nil), ("", nil),
    ]
    for (text, found) in expected { #expect(place(list, text) == found, "\(text)") }
  }

  @Test("A further host that is public_url or an alias as well stays what it is without it")
  func repeatedPlaces() throws {
    let origin = try PublicOrigin(parsing: "https://app.example.com")
    let list = try AuthorityList(
      origin: origin, hosts: ["old.example.com"], sites: [origin, PublicOrigin(parsing: "https://old.example.com")])
    #expect(place(list, "app.example.com") == .publicURL)
    #expect(place(list, "old.example.com") == .alias)
  }

  @Test("A listed host that is none is a problem that names it")
  func listedProblem() throws {
    let origin = try PublicOrigin(parsing: "https://app.example.com")
    let problem = #expect(throws: AuthorityListError.self) {
      try AuthorityList(origin: origin, hosts: ["ok", "https://x"])
    }
    #expect(problem?.index == 1 && problem?.message.contains("\"https://x\"") == true)
    for bad in ["*.example.com", "x/", "", "x:port"] {
      #expect(throws: AuthorityListError.self) { try AuthorityList(origin: origin, hosts: [bad]) }
    }
  }

  private func place(_ list: AuthorityList, _ text: String) -> AuthorityList.Place? {
    let bytes = Array(text.utf8)
    return list.place(bytes.span)
  }

  private func match(_ list: AuthorityList, _ text: String) -> Bool { place(list, text) != nil }
}
