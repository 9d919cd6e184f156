import Testing

@testable import ConfigurationFile

// Routes whose settings differ by method.
//
// - The explanation has a part for each group of methods, and one for the route if they do not differ. It tells which
//   routes must admit a request as well that acts on what is below the path.
@Suite("Routes whose settings differ by method")
struct RouteMethodTests {
  private static let upstream = "[[upstreams]]\nname = \"two\"\nurl = \"http://127.0.0.1:3001\"\n"

  @Test("A route for GET and POST below one that denies POST is explained for both, and warned about for GET")
  func deniedMethod() throws {
    let (lines, warnings) = try Sandbox.explanation(
      of: 2,
      in: Self.upstream + """
        [[route]]
        path = "/x/"
        methods = ["POST"]
        access = "deny"
        [[route]]
        path = "/x/"
        access = "public"
        [[route]]
        path = "/x/y/"
        methods = ["GET", "POST"]
        upstream = "two"
        """)
    #expect(
      lines == [
        "/x/y/  (line 23)",
        "  methods: GET, HEAD, POST; a field _method in a form is not seen  (line 25)",
        "  GET, HEAD",
        "    passes: everybody, signed in or not  (from /x/, line 22)",
        "    goes to: two, http://127.0.0.1:3001  (line 26)",
        "  POST",
        "    passes: nobody  (from /x/, line 19)",
      ])
    #expect(warnings == [RouteMethodWarningTests.inheritedPublic(line: 23, "GET or HEAD", from: 22)])
  }

  @Test("Of two routes of one path with nested sets of methods, the larger is explained with what the smaller decides")
  func nestedMethods() throws {
    let (lines, warnings) = try Sandbox.explanation(
      of: 1,
      in: """
        [[route]]
        path = "/x/"
        methods = ["GET"]
        access = "deny"
        [[route]]
        path = "/x/"
        methods = ["GET", "POST"]
        access = "public"
        """)
    #expect(
      lines == [
        "/x/  (line 17)",
        "  methods: GET, HEAD, POST; a field _method in a form is not seen  (line 19)",
        "  GET, HEAD",
        "    passes: nobody  (from /x/, line 16)",
        "  POST",
        "    passes: everybody, signed in or not  (line 20)",
        "    goes to: http://127.0.0.1:3000",
      ])
    #expect(warnings == [])
  }

  @Test("A route that inherits public for GET and a group for other methods is explained and warned about")
  func inheritedMethod() throws {
    let (lines, warnings) = try Sandbox.explanation(
      of: 1,
      in: "[access]\nallow_groups = [\"dom\"]\n[[group]]\nname = \"dom\"\n" + Self.upstream + """
        [[route]]
        path = "/x/"
        methods = ["GET"]
        access = "public"
        [[route]]
        path = "/x/y/"
        upstream = "two"
        """)
    #expect(
      lines == [
        "/x/y/  (line 24)",
        "  GET, HEAD",
        "    passes: everybody, signed in or not  (from /x/, line 23)",
        "    goes to: two, http://127.0.0.1:3001  (line 26)",
        "  other methods",
        "    passes: group dom  ([access], line 14)",
        "    signed out: browsers are sent to sign in, others get 401",
        "    goes to: two, http://127.0.0.1:3001  (line 26)",
      ])
    #expect(warnings == [RouteMethodWarningTests.inheritedPublic(line: 24, "GET or HEAD", from: 23)])
  }

  @Test("A maximum age is explained for the methods that are not public, and networks for those that have them")
  func conditions() throws {
    let get = "[[route]]\npath = \"/x/\"\nmethods = [\"GET\"]\n"
    let aged = try Sandbox.explanation(
      of: 1, in: get + "access = \"public\"\n[[route]]\npath = \"/x/y/\"\nmax_age = \"1m\"\n")
    #expect(
      aged.lines == [
        "/x/y/  (line 17)",
        "  GET, HEAD",
        "    passes: everybody, signed in or not  (from /x/, line 16)",
        "    goes to: http://127.0.0.1:3000",
        "  other methods",
        "    passes: everybody who is signed in",
        "    sign-in: not older than 1m  (line 19)",
        "    signed out: browsers are sent to sign in, others get 401",
        "    goes to: http://127.0.0.1:3000",
      ])
    #expect(aged.warnings == [RouteMethodWarningTests.inheritedPublic(line: 17, "GET or HEAD", from: 16)])
    let local = try Sandbox.explanation(of: 1, in: get + "networks = [\"10.0.0.0/8\"]\n[[route]]\npath = \"/x/y/\"\n")
    #expect(
      local.lines == [
        "/x/y/  (line 17)",
        "  GET, HEAD",
        "    passes: everybody who is signed in",
        "    only from: 10.0.0.0/8  (from /x/, line 16)",
        "    signed out: browsers are sent to sign in, others get 401",
        "    goes to: http://127.0.0.1:3000",
        "  other methods",
        "    passes: everybody who is signed in",
        "    signed out: browsers are sent to sign in, others get 401",
        "    goes to: http://127.0.0.1:3000",
      ])
  }

  @Test("Settings that do not differ by method, or only by what is not explained, are explained once")
  func sameForAll() throws {
    let route = "[[route]]\npath = \"/x/\"\n"
    let other = "[[route]]\npath = \"/z/\"\nmethods = [\"GET\"]\naccess = \"public\"\n"
    for rest in [route + other, route + route + "methods = [\"POST\"]\nbody_rate = 1000\n"] {
      let (lines, warnings) = try Sandbox.explanation(of: 0, in: rest)
      #expect(
        lines == [
          "/x/  (line 13)",
          "  passes: everybody who is signed in",
          "  signed out: browsers are sent to sign in, others get 401",
          "  goes to: http://127.0.0.1:3000",
        ])
      #expect(warnings == [])
    }
  }

  @Test("Routes below the path are explained for the methods by which a request can act on them")
  func below() throws {
    let routes = """
      [[route]]
      path = "/x/"
      access = "public"
      [[route]]
      path = "/x/y/"
      methods = ["DELETE", "POST"]
      access = "deny"
      [[route]]
      path = "/x/z"
      access = "signed-in"
      """
    #expect(
      try Sandbox.explanation(of: 0, in: routes).lines == [
        "/x/  (line 13)",
        "  passes: everybody, signed in or not  (line 15)",
        "  goes to: http://127.0.0.1:3000",
        "  below: /x/y/ (line 16) and /x/z (line 20) must admit DELETE, too",
        "  below: /x/z (line 20) must admit MOVE, COPY, PROPFIND and 10 more, too",
      ])
    #expect(try Sandbox.explanation(of: 2, in: routes).lines.contains { $0.hasPrefix("  below") } == false)
    #expect(
      try Sandbox.explanation(of: 3, in: routes).lines == [
        "everything else",
        "  passes: everybody who is signed in",
        "  signed out: browsers are sent to sign in, others get 401",
        "  goes to: http://127.0.0.1:3000",
        "  below: /x/y/ (line 16) must admit DELETE, too",
      ])
  }

  @Test("Below an exact route its parts for methods tell what holds there")
  func belowExact() throws {
    let (lines, _) = try Sandbox.explanation(
      of: 1,
      in: """
        [[route]]
        path = "/x"
        match = "exact"
        methods = ["DELETE"]
        access = "deny"
        [[route]]
        path = "/x"
        match = "exact"
        access = "public"
        """)
    #expect(
      lines == [
        "/x exactly  (line 18)",
        "  DELETE",
        "    passes: nobody  (from /x, line 17)",
        "  other methods",
        "    passes: everybody, signed in or not  (line 21)",
        "    goes to: http://127.0.0.1:3000",
        "    below: what holds without a route must admit MOVE, COPY, PROPFIND and 10 more, too",
      ])
  }

  @Test("A route below that admits everybody who is signed in is explained where machine tokens are admitted")
  func belowWithTokens() throws {
    let (lines, _) = try Sandbox.explanation(
      of: 0,
      in: """
        [[group]]
        name = "machines"
        [[route]]
        path = "/dav/"
        allow_groups = ["machines"]
        tokens = true
        [[route]]
        path = "/dav/open/"
        access = "signed-in"
        """)
    #expect(lines.last == "  below: /dav/open/ (line 19) must admit DELETE, MOVE, COPY and 11 more, too", "\(lines)")
  }

  @Test("The access below an exact route is explained for each method")
  func belowExactByMethod() throws {
    let (lines, _) = try Sandbox.explanation(
      of: 1,
      in: """
        [[route]]
        path = "/"
        methods = ["DELETE"]
        access = "deny"
        [[route]]
        path = "/page"
        match = "exact"
        access = "signed-in"
        """)
    #expect(lines.filter { $0.hasPrefix("  below") } == ["  below: / (line 13) must admit DELETE, too"], "\(lines)")
  }
}
