import AccessPolicy
import DataPlane
import Sessions
import Testing

@testable import Gateway

// Requests that act on a folder: the routes below it count as well, as far as `Depth` reaches.
@Suite("Requests for a folder at the gate")
struct FolderRequestTests {
  /// Anna may use every folder but the board's.
  private static func routes() -> [RouteSettings] {
    var board = RouteSettings(path: "/dav/board/")
    board.conditions.denied.subjects = ["001.anna"]
    return [board]
  }

  private func ask(_ method: String, _ target: String, _ fields: [String] = [], cookie: String? = nil) -> Asked {
    Asked(
      target: target, method: method, fields: fields + (cookie.map { ["Cookie: \($0)"] } ?? []), isOfBrowser: false)
  }

  @Test("A folder is deleted, moved, copied and listed by users who may use everything in it")
  func everythingIsJudged() async throws {
    let rig = try await GateRig(try .forTests(routes: Self.routes()))
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    for method in ["DELETE", "MOVE", "COPY", "PROPFIND", "LOCK", "SEARCH", "REPORT"] {
      for target in ["/dav/", "/dav", "/", "/DAV/", "https://app.example.com"] {
        #expect(try await rig.decide(ask(method, target, cookie: anna)).status == 403, "\(method) \(target)")
        #expect(try await rig.decide(ask(method, target, cookie: ben)).identity != nil, "\(method) \(target)")
        #expect(try await rig.decide(ask(method, target)).status == 401, "\(method) \(target)")
      }
      #expect(try await rig.decide(ask(method, "/dav/own/", cookie: anna)).identity != nil, "\(method)")
    }
    for method in ["GET", "POST", "PUT", "PROPPATCH"] {
      #expect(try await rig.decide(ask(method, "/dav/", cookie: anna)).identity != nil, "\(method)")
    }
    try await rig.stop()
  }

  @Test("Depth limits what a request needs")
  func depth() async throws {
    let rig = try await GateRig(try .forTests(routes: Self.routes()))
    let (_, anna) = try rig.signIn("001.anna")
    func isForwarded(_ method: String, _ target: String, _ depth: String) async throws -> Bool {
      try await rig.decide(ask(method, target, ["Depth: \(depth)"], cookie: anna)).identity != nil
    }
    for method in ["PROPFIND", "COPY", "LOCK"] {
      #expect(try await isForwarded(method, "/dav/", "0"), "\(method)")
      #expect(try await !isForwarded(method, "/", "infinity"), "\(method)")
    }
    // The names of what is in a folder, as an index page lists them. COPY has no depth of 1.
    #expect(try await isForwarded("PROPFIND", "/dav/", "1"))
    #expect(try await !isForwarded("PROPFIND", "/dav/board/", "1"))
    #expect(try await !isForwarded("COPY", "/dav/", "1"))
    // Some reports have their depth in the body.
    for method in ["DELETE", "MOVE", "REPORT"] {
      #expect(try await !isForwarded(method, "/dav/", "0"), "\(method)")
    }
    try await rig.stop()
  }

  @Test(
    "A Depth that an application could read in another way, or does not get, is infinity",
    arguments: [
      (["Depth: 0"], true), (["depth:  0 "], true), (["Depth: 0", "Connection: TE, Keep-Alive"], true),
      ([], false), (["Depth:"], false), (["Depth: 00"], false), (["Depth: +0"], false), (["Depth: 0, infinity"], false),
      (["Depth: 0", "Depth: 0"], false), (["Depth: 0", "depth: infinity"], false), (["Depth: 0;x"], false),
      (["Depth: 0", "Connection: depth"], false), (["Connection: close, Depth", "Depth: 0"], false),
    ] as [([String], Bool)])
  func depthField(_ fields: [String], _ isZero: Bool) async throws {
    let rig = try await GateRig(try .forTests(routes: Self.routes()))
    let (_, anna) = try rig.signIn("001.anna")
    let decided = try await rig.decide(ask("PROPFIND", "/dav/", fields, cookie: anna))
    #expect((decided.identity != nil) == isZero && (decided.status == 403) == !isZero)
    try await rig.stop()
  }

  @Test("A Destination is judged with everything below it, whatever Depth says")
  func destination() async throws {
    let rig = try await GateRig(try .forTests(routes: Self.routes()))
    let (_, anna) = try rig.signIn("001.anna")
    for fields in [[], ["Depth: 0"]] as [[String]] {
      for destination in ["/dav/", "/dav", "https://app.example.com/"] {
        let asked = ask("COPY", "/own/", fields + ["Destination: \(destination)"], cookie: anna)
        #expect(try await rig.decide(asked).status == 403, "\(destination)")
      }
      let asked = ask("COPY", "/own/", fields + ["Destination: /dav/own/"], cookie: anna)
      #expect(try await rig.decide(asked).identity != nil)
    }
    try await rig.stop()
  }

  @Test("A field with another method is not forwarded to a folder with a stricter one in it")
  func methodOverride() async throws {
    let rig = try await GateRig(try .forTests(routes: Self.routes()))
    let (_, anna) = try rig.signIn("001.anna")
    func isDropped(_ target: String) async throws -> Bool {
      try await rig.forwarded(ask("POST", target, ["X-HTTP-Method-Override: DELETE"], cookie: anna)).dropsMethodOverride
    }
    #expect(try await isDropped("/dav/"))
    #expect(try await isDropped("/"))
    #expect(try await !isDropped("/dav/own/a"))
    try await rig.stop()
  }

  @Test("An open exchange ends when another configuration has a route below its folder that refuses its user")
  func review() async throws {
    let rig = try await GateRig()
    let (_, anna) = try rig.signIn("001.anna")
    let listing = try await rig.open(ask("PROPFIND", "/dav/", cookie: anna))
    let folder = try await rig.open(ask("PROPFIND", "/dav/", ["Depth: 0"], cookie: anna))
    let reading = try await rig.open(ask("GET", "/dav/", cookie: anna))
    for exchange in [listing, folder, reading] { #expect(try await rig.review(exchange)) }
    try await rig.apply(try .forTests(routes: Self.routes()))
    #expect(try await !rig.review(listing))
    #expect(try await rig.review(folder))
    #expect(try await rig.review(reading))
    try await rig.stop()
  }
}
