import Testing

@testable import ConfigurationFile

// Warnings and errors about routes whose settings differ by method.
//
// - A route that inherits access = "public" for some methods is a warning that names them; one that states its own
//   access is not warned about.
// - A route that restricts GET and leaves POST or others to more users is a warning, unless another route of its path
//   decides on such a method.
// - A word for every method, and a method with a typing error, are a warning.
// - tokens = true is refused only if a token would have no effect with any method.
// - The prefix that an upstream removes from paths is checked for each method.
@Suite("Warnings about routes whose settings differ by method")
struct RouteMethodWarningTests {
  private func check(_ rest: String) throws -> CheckedConfiguration {
    try Sandbox.check(Sandbox.minimal(rest))
  }

  private func problem(_ rest: String) throws -> String {
    do {
      _ = try check(rest)
      return "none"
    } catch let error as ConfigurationError {
      return error.problems.map(\.description).joined(separator: "\n")
    }
  }

  private static let upstream = "[[upstreams]]\nname = \"two\"\nurl = \"http://127.0.0.1:3001\"\n"
  private static let staff = "[[group]]\nname = \"staff\"\nmembers = [\"ada@example.com\"]\n"

  /// The warning of a route that inherits public for these methods.
  static func inheritedPublic(line: Int, _ methods: String, from source: Int) -> String {
    "gateway.conf:\(line):3: warning: everybody is admitted here with \(methods): the route inherits access = \"public\" "
      + "from \"/x/\" (line \(source)); state access for these methods in a route of this path if this is intended, or "
      + "restrict access"
  }

  @Test(
    "A route is warned about for the methods for which it inherits public, unless access is stated for its path",
    arguments: [
      // Its own access.
      (#"methods = ["GET"]"#, #"methods = ["GET", "POST"]"#, "/x/", #"access = "deny""#, nil),
      (#"methods = ["GET"]"#, "", "/x/", #"access = "signed-in""#, nil),
      (#"methods = ["GET"]"#, "", "/x/y/", #"access = "deny""#, nil),
      // A route of the same path for fewer methods, and for more.
      (#"methods = ["GET"]"#, "", "/x/", #"unauthenticated = "401""#, nil),
      (#"methods = ["HEAD"]"#, #"methods = ["GET"]"#, "/x/", #"unauthenticated = "401""#, nil),
      (#"methods = ["GET", "POST"]"#, #"methods = ["GET"]"#, "/x/", #"unauthenticated = "401""#, ""),
      // A path below.
      (#"methods = ["GET"]"#, #"methods = ["POST"]"#, "/x/y/", #"unauthenticated = "401""#, nil),
      (#"methods = ["POST"]"#, #"methods = ["GET", "PUT", "POST"]"#, "/x/y/", #"tokens = false"#, " with POST"),
      (#"methods = ["GET", "POST"]"#, "", "/x/y/", #"tokens = false"#, " with GET, HEAD or POST"),
      ("", #"methods = ["POST"]"#, "/x/y/", #"tokens = false"#, ""),
    ] as [(String, String, String, String, String?)])
  func publicWarnings(methods: String, own: String, path: String, stated: String, expected: String?) throws {
    let (_, warnings) = try Sandbox.explanation(
      of: 1,
      in: """
        [[route]]
        path = "/x/"
        \(methods)
        access = "public"
        [[route]]
        path = "\(path)"
        \(own)
        \(stated)
        """)
    let found = warnings.filter { $0.contains("everybody is admitted here") }
    #expect(found.count == (expected == nil ? 0 : 1), "\(warnings)")
    if let expected {
      #expect(found.first?.contains("everybody is admitted here\(expected): the route") == true, "\(found)")
    }
  }

  @Test("A route that inherits public for all but one method is warned about for the others")
  func allButOne() throws {
    let (_, warnings) = try Sandbox.explanation(
      of: 2,
      in: """
        [[route]]
        path = "/x/"
        access = "public"
        [[route]]
        path = "/x/"
        methods = ["POST"]
        access = "deny"
        [[route]]
        path = "/x/y/"
        """)
    #expect(warnings == [Self.inheritedPublic(line: 20, "methods other than POST", from: 15)])
  }

  @Test(
    "A word for every method, and a method with a typing error, are warned about: the route would restrict nothing",
    arguments: [
      ("*", "\"*\" is not every method, but one of this name, which no client sends; remove methods"),
      ("ALL", "\"ALL\" is not every method"), ("any", "\"any\" is not every method"),
      ("DELTE", "\"DELTE\" is not a usual method; did you mean \"DELETE\"?"),
      ("PSOT", "\"PSOT\" is not a usual method; did you mean \"POST\"?"),
      ("get", "methods are case-sensitive, and \"get\" is not a usual one; write \"GET\" if that is meant"),
      ("GET", nil), ("PROPFIND", nil), ("PURGE", nil), ("X-FROBNICATE", nil), ("TRACK", nil), ("M-SEARCH", nil),
    ] as [(String, String?)])
  func unusualMethod(method: String, expected: String?) throws {
    let warnings = try check("[[route]]\npath = \"/x/\"\nmethods = [\"\(method)\"]\naccess = \"public\"\n").warnings
      .map(\.description)
    #expect(warnings.count == (expected == nil ? 0 : 1), "\(warnings)")
    guard let expected else { return }
    #expect(warnings.first?.hasPrefix("gateway.conf:15:1: warning: \(expected)") == true, "\(warnings)")
  }

  @Test(
    "A route that restricts GET is warned about if less specific ones or [access] admit more users to write",
    arguments: [
      // Above it, the route, and the methods of the warning.
      ("", #"methods = ["GET", "HEAD"]"#, #"allow_groups = ["staff"]"#, "DELETE, PATCH, POST or PUT"),
      ("", #"methods = ["GET", "POST", "PUT"]"#, #"allow_groups = ["staff"]"#, "DELETE or PATCH"),
      ("", #"methods = ["GET"]"#, #"access = "deny""#, "DELETE, PATCH, POST or PUT"),
      (#"access = "public""#, #"methods = ["GET"]"#, #"access = "signed-in""#, "DELETE, PATCH, POST or PUT"),
      (#"allow_emails = ["a@b.c"]"#, #"methods = ["GET"]"#, #"allow_emails = ["d@b.c"]"#, "DELETE, PATCH, POST or PUT"),
      // Nobody else may write, or everybody may read.
      (#"allow_groups = ["staff"]"#, #"methods = ["GET"]"#, #"allow_groups = ["staff"]"#, nil),
      (#"allow_groups = ["staff"]"#, #"methods = ["GET"]"#, #"access = "signed-in""#, nil),
      ("", #"methods = ["GET"]"#, #"access = "public""#, nil),
      // Addresses and members of groups are of a domain, or not.
      (#"allow_emails = ["ada@example.com"]"#, #"methods = ["GET"]"#, #"allow_email_domains = ["example.com"]"#, nil),
      (#"allow_groups = ["staff"]"#, #"methods = ["GET"]"#, #"allow_email_domains = ["Example.com"]"#, nil),
      (#"allow_emails = ["ada@example.com"]"#, #"methods = ["GET"]"#, #"allow_groups = ["staff"]"#, nil),
      (
        #"allow_groups = ["staff"]"#, #"methods = ["GET"]"#, #"allow_email_domains = ["example.org"]"#,
        "DELETE, PATCH, POST or PUT"
      ),
      (
        #"allow_email_domains = ["example.com"]"#, #"methods = ["GET"]"#, #"allow_groups = ["staff"]"#,
        "DELETE, PATCH, POST or PUT"
      ),
      // It does not restrict reading, or every usual method.
      ("", #"methods = ["POST", "PUT"]"#, #"allow_groups = ["staff"]"#, nil),
      ("", #"methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]"#, #"allow_groups = ["staff"]"#, nil),
      ("", "", #"allow_groups = ["staff"]"#, nil),
    ] as [(String, String, String, String?)])
  func widerWrites(above: String, methods: String, access: String, expected: String?) throws {
    let warnings = try check(
      Self.staff + """
        [[route]]
        path = "/"
        \(above)
        [[route]]
        path = "/x/"
        \(methods)
        \(access)
        """
    ).warnings.map(\.description).filter { $0.contains("more users are admitted here") }
    let told = expected.map { methods in
      "gateway.conf:21:1: warning: more users are admitted here with \(methods) than with GET: the route holds for its "
        + "methods only; remove methods to restrict all of them, or state access for the others in a route of this path"
    }
    #expect(warnings == [told].compactMap { $0 })
  }

  @Test("Members whom only the store has are not taken for more users than a whole domain")
  func storedWriters() throws {
    func isWarnedAbout(_ access: String) throws -> Bool {
      let text = """
        [[group]]
        name = "editors"
        [access]
        allow_groups = ["editors"]
        requests = false
        [[route]]
        path = "/x/"
        methods = ["GET"]
        \(access)
        """
      return try check(text).warnings.contains { $0.description.contains("more users are admitted here") }
    }
    #expect(try !isWarnedAbout(#"allow_email_domains = ["example.com"]"#))
    #expect(try isWarnedAbout(#"allow_emails = ["ada@example.com"]"#))
  }

  @Test("A route that restricts GET is not warned about if another route of its path decides on other methods")
  func statedWrites() throws {
    for other in [#"methods = ["POST"]"#, ""] {
      let warnings = try check(
        Self.staff + """
          [[route]]
          path = "/x/"
          methods = ["GET"]
          allow_groups = ["staff"]
          [[route]]
          path = "/x/"
          \(other)
          access = "public"
          """
      ).warnings
      #expect(warnings.isEmpty, "\(warnings)")
    }
  }

  @Test("tokens = true is accepted if a token is admitted with any method, and refused if with none")
  func tokens() throws {
    let group = "[[group]]\nname = \"staff\"\n"
    func routes(_ get: String, _ both: String, _ methods: String = #"methods = ["GET", "POST"]"#) -> String {
      group + """
        [[route]]
        path = "/x/"
        methods = ["GET"]
        \(get)
        [[route]]
        path = "/x/"
        \(methods)
        \(both)
        tokens = true
        """
    }
    let staff = #"allow_groups = ["staff"]"#
    for methods in [#"methods = ["GET", "POST"]"#, ""] {
      let (lines, warnings) = try Sandbox.explanation(of: 1, in: routes(#"access = "public""#, staff, methods))
      #expect(warnings == [])
      #expect(lines.contains { $0.hasPrefix("    tokens: machine tokens of group staff  (line ") }, "\(lines)")
    }
    // Below: for GET the other route decides.
    for (get, both, reason) in [
      (#"access = "public""#, #"access = "deny""#, "a token would have no effect with any method"),
      (#"access = "public""#, #"access = "public""#, "everybody is admitted here"),
      (#"access = "deny""#, #"access = "deny""#, "nobody is admitted here"),
      (staff + "\ntokens = true", #"access = "public""#, "everybody is admitted here"),
    ] {
      let found = try problem(routes(get, both))
      #expect(found.contains("tokens = true, but \(reason)") && !found.contains("\n"), "\(get), \(both): \(found)")
    }
  }

  @Test("A route outside of the prefix that its upstream removes is refused if that holds for any of its methods")
  func prefixes() throws {
    func routes(_ methods: String) -> String {
      Self.upstream + """
        strip_prefix = "/app"
        [[route]]
        path = "/x/"
        methods = ["GET"]
        upstream = "default"
        [[route]]
        path = "/x/"
        \(methods)
        upstream = "two"
        """
    }
    for (methods, told) in [
      (#"methods = ["GET", "POST"]"#, "the route with POST is outside of \"/app\""),
      ("", "the route with methods other than GET or HEAD is outside of \"/app\""),
    ] {
      let found = try problem(routes(methods))
      #expect(found.hasPrefix("gateway.conf:22:8: \(told)") && !found.contains("\n"), "\(found)")
    }
  }
}
