import AccessPolicy
import AppleIdentity
import DataPlane
import Secrets
import Sessions
import Testing
import WebFormats

@testable import ConfigurationFile

@Suite("Values")
struct ValueTests {
  @Test(
    "Durations are a number and a unit",
    arguments: [
      ("0s", .zero), ("250ms", .milliseconds(250)), ("15s", .seconds(15)), ("60m", .seconds(3_600)),
      ("24h", .seconds(86_400)), ("30d", .seconds(30 * 86_400)), ("007s", .seconds(7)),
    ] as [(String, Duration)])
  func durations(text: String, expected: Duration) throws {
    #expect(try DurationText.parse(text) == expected)
  }

  @Test(
    "A duration without a whole number and one unit, or too long, is refused",
    arguments: [
      "", "s", "15", "15 s", "15S", "1.5h", "-1s", "+1s", "1h30m", "15s ", "0x1s", "१s", "15ſ", "36501d",
      "9223372036854775807s", "18446744073709551616d", "1e3s", "1_000s", "15s\u{301}",
    ])
  func noDurations(text: String) {
    #expect(throws: Diagnostic.self) { try DurationText.parse(text) }
  }

  @Test(
    "A duration that was written is read as itself",
    arguments: [1, 999, 1_000, 59_999, 60_000, 86_400_000, 172_800_000, 604_800_000, 31_536_000_000])
  func durationRoundTrip(milliseconds: Int) throws {
    let duration = Duration.milliseconds(milliseconds)
    #expect(try DurationText.parse(DurationText.format(duration)) == duration)
  }

  @Test(
    "Durations are written the way one says them",
    arguments: [(86_400, "24h"), (172_800, "48h"), (604_800, "7d"), (60, "1m"), (90, "90s"), (0, "0s")])
  func durationFormat(seconds: Int, expected: String) {
    #expect(DurationText.format(.seconds(seconds)) == expected)
  }

  @Test(
    "Sizes are a number and a unit",
    arguments: [("0", 0), ("0B", 0), ("32KiB", 32_768), ("1MiB", 1_048_576), ("2GiB", 2_147_483_648)])
  func sizes(text: String, expected: Int) throws {
    #expect(try SizeText.parse(text) == expected)
    #expect(try SizeText.parse(SizeText.format(expected)) == expected)
  }

  @Test(
    "A size without a whole number and one unit, or too large, is refused",
    arguments: ["", "32", "32kib", "32KB", "32 KiB", "-1B", "1.5MiB", "99999999999999999999B", "2097152GiB"])
  func noSizes(text: String) {
    #expect(throws: Diagnostic.self) { try SizeText.parse(text) }
  }

  @Test(
    "An address to bind is an IP address with a port, or the path of a Unix socket",
    arguments: [
      ("127.0.0.1:80", .ip(host: "127.0.0.1", port: 80)), ("[::]:0", .ip(host: "::", port: 0)),
      ("[2001:db8::1]:65535", .ip(host: "2001:db8::1", port: 65_535)), ("unix:/run/x.sock", .unix(path: "/run/x.sock")),
      ("unix:x.sock", .unix(path: "/conf/x.sock")), ("unix:./x.sock", .unix(path: "/conf/x.sock")),
    ] as [(String, BindAddress)])
  func addresses(text: String, expected: BindAddress) throws {
    #expect(try AddressText.parse(text, directory: "/conf") == expected)
  }

  @Test(
    "A value that is not an address to bind is refused",
    arguments: [
      "", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "127.0.0.1:-1", "[127.0.0.1]:1", "::1:80",
      "[::1]", "[::1]80", "example.com:80", "*:80", "[fe80::1%eth0]:80", "127.1:80", "unix:", "127.0.0.1:８０",
    ])
  func noAddresses(text: String) {
    #expect(throws: Diagnostic.self) { try AddressText.parse(text, directory: "/conf") }
  }

  @Test(
    "An address of an application is an http: or https: origin, or the path of a Unix socket",
    arguments: [
      ("http://app", .tcp(host: "app", port: 80, tls: false)),
      ("HTTPS://app/", .tcp(host: "app", port: 443, tls: true)),
      ("http://[::1]:3000", .tcp(host: "::1", port: 3_000, tls: false)),
      ("http://app_1.internal:8080/", .tcp(host: "app_1.internal", port: 8_080, tls: false)),
      ("unix:app.sock", .unix(path: "/conf/app.sock")),
    ] as [(String, UpstreamAddress)])
  func upstreams(text: String, expected: UpstreamAddress) throws {
    #expect(try UpstreamURL.parse(text, directory: "/conf") == expected)
  }

  @Test(
    "A value that is not an address of an application is refused",
    arguments: [
      "", "app:80", "http://", "http:///", "http://:80", "http://app:0", "http://app:65536", "http://app:",
      "http://a b",
      "http://[::1", "http://[app]:80", "http://u@app", "http://app/x", "http://app?x", "http://app#x", "http://app\\x",
      "http://-app", "http://bücher", "http://app\r\nX: y", "http://[::1]x:80",
      "https://" + String(repeating: "a", count: 254),
    ])
  func noUpstreams(text: String) {
    #expect(throws: Diagnostic.self) { try UpstreamURL.parse(text, directory: "/conf") }
  }

  @Test("Relative paths are relative to the folder of the file")
  func paths() throws {
    #expect(try FilePath.parse("a/b", directory: "/conf") == "/conf/a/b")
    #expect(try FilePath.parse("../b", directory: "/") == "/../b")
    #expect(try FilePath.parse("/b", directory: "/conf") == "/b")
    #expect(try FilePath.parse("./a/.//b/", directory: "/conf/") == "/conf/a/b")
    #expect(try FilePath.parse("//b/./.c", directory: "/conf") == "/b/.c")
    #expect(try FilePath.parse("/", directory: "/conf") == "/")
    #expect(throws: Diagnostic.self) { try FilePath.parse("a\nb", directory: "/conf") }
    #expect(try FilePath.parse(String(repeating: "a", count: 4_094), directory: "/").utf8.count == 4_095)
    #expect(throws: Diagnostic.self) { try FilePath.parse(String(repeating: "a", count: 4_095), directory: "/") }
  }

  @Test("The prefix of the gateway's pages has 128 bytes at most")
  func longPathPrefix() throws {
    let longest = "/" + String(repeating: "a", count: 127)
    #expect(try PathPrefixText.parse(longest) == longest)
    #expect(throws: Diagnostic.self) { try PathPrefixText.parse(longest + "a") }
  }

  @Test("An address for notifications has a scheme, a host and a path")
  func endpoints() throws {
    let address = try EndpointURL.parse("http://127.0.0.1:3000/hooks/apple?a=b")
    #expect(address.address == .tcp(host: "127.0.0.1", port: 3_000, tls: false))
    #expect(address.authority == "127.0.0.1:3000" && address.path == "/hooks/apple?a=b")
    let longest = "http://a/" + String(repeating: "x", count: 2_047)
    #expect(try EndpointURL.parse(longest).path.utf8.count == 2_048)
    for text in [
      "", "127.0.0.1:3000/x", "http:/a/x", "ftp://a/x", "http://a", "http:///x", "http://a/x#y", "http://a/x y",
      "http://a/\u{FC}", "http://a/\r\n", longest + "x",
    ] {
      #expect(throws: Diagnostic.self, "\(text.prefix(40))") { try EndpointURL.parse(text) }
    }
  }

  @Test("A required claim has one value that it can have; a claim with a key of its own is refused")
  func requiredClaims() throws {
    let longest = String(repeating: "o", count: 255)
    for (claim, value) in [
      ("org_id", longest), ("scopes", "a=b"), ("email_verified", "true"), ("real_user_status", "0"),
    ] {
      let requirement = try ClaimRequirementText.parse("\(claim)=\(value)")
      #expect(requirement.claim == claim && requirement.values == [value])
    }
    for text in [
      "", "org_id", "org_id=", "=1", "org_id=\(longest)o", "org_id=a\nb", "org_id=\u{7F}", "sub=001.a", "groups=staff",
      "email=a@example.com", "name=Ada", "given_name=Ada", "family_name=Ada", "session_id=1", "iat=1", "exp=1",
      "auth_time=1", "nonce=1", "c_hash=1", "at_hash=1", "email_verified=yes", "is_private_email=1",
      "nonce_supported=TRUE", "mail_forwarding=", "mail_forwarding=1", "real_user_status=3",
    ] {
      #expect(throws: Diagnostic.self, "\(text.prefix(40))") { try ClaimRequirementText.parse(text) }
    }
  }

  @Test("The password of a store is never written")
  func storePassword() throws {
    for url in ["postgresql://u:geheim@h/db?password=geheim", "postgres://h/db?password=geheim"] {
      let location = try StoreURL.parse(url, directory: "/conf")
      #expect(!StoreURL.format(location).contains("geheim"))
    }
    // A configuration with this address is refused.
    let refused = StoreURL.format(.postgreSQL("postgresql://u:gehe@im:geheim@h/d"))
    #expect(!refused.contains("geheim") && !refused.contains("gehe@im"))
    #expect(StoreURL.format(try StoreURL.parse("sqlite:x.db", directory: "/conf")) == "sqlite:/conf/x.db")
  }

  @Test("A rate is a number and a unit, or off")
  func rates() throws {
    for text in ["off", "60/m", "1/s", "1000000/h"] { #expect(RateText.format(try RateText.parse(text)) == text) }
    for text in ["", "0/m", "60", "60/d", "-1/m", "1000001/m", "60/min", "06/m", "60/m/", "OFF", "1.5/s"] {
      #expect(throws: Diagnostic.self, "\(text)") { try RateText.parse(text) }
    }
  }

  @Test("The address of a proxy has a host and a port, and its password is never written")
  func proxyURL() throws {
    #expect(try ProxyURL.parse("http://Proxy.example:3128/").description == "http://proxy.example:3128")
    #expect(try ProxyURL.parse("http://[::1]:3128").description == "http://[::1]:3128")
    let proxy = try ProxyURL.parse("http://anna:ge%3Ah%40eim@proxy:3128")
    #expect(proxy.authorization?.exposed == "Basic YW5uYTpnZTpoQGVpbQ==" && "\(proxy)" == "http://proxy:3128")
    for text in [
      "proxy:3128", "https://proxy:3128", "http://proxy", "http://proxy:3128/x", "http://anna@proxy:3128",
      "http://a%0Ab:c@proxy:3128", "http://a%3Ab:c@proxy:3128", "http://:c@proxy:3128", "http://proxy:0",
    ] { #expect(throws: Diagnostic.self, "\(text)") { try ProxyURL.parse(text) } }
  }

  @Test(
    "Headers that mean something already are not identity headers",
    arguments: ["Host", "CONTENT-LENGTH", "Transfer_Encoding", "x.forwarded.for", "Connection", "", "A B", "A:", "Ä"])
  func reservedHeaders(name: String) {
    #expect(throws: Diagnostic.self) { try IdentityHeaderText.checkName(name) }
  }

  @Test(
    "The distance of two keys is the number of typing errors between them",
    arguments: [
      ("", "", 0), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xabc", 1), ("kitten", "sitting", 3),
    ])
  func distance(left: String, right: String, expected: Int) {
    #expect(NearestKey.distance(Array(left.utf8), Array(right.utf8)) == expected)
  }

  @Test("A key that is like none is not guessed")
  func nothingNear() {
    #expect(NearestKey.find("frobnicate", among: ["lifetime", "interval"]) == nil)
    #expect(NearestKey.find("", among: ["interval"]) == nil)
    #expect(NearestKey.find("x", among: []) == nil)
    #expect(NearestKey.find("lifetmie", among: ["interval", "lifetime"]) == "lifetime")
  }
}
