import Foundation
import PostgreSQLServerTesting
import Testing

// What a flood leaves in the database, and how what is old leaves it: two gateways on one PostgreSQL.
//
// - Sign-ins that are begun and not finished write nothing; an answer that is tried again and again is one mark.
// - A notification that comes a hundred times, on both gateways, is one mark and carried out once; forged ones are
//   none, and cost each gateway one fetch of Apple's keys.
// - What is over is removed at a start, never more than 500 rows at a time, and nothing else is.
// - What was seen is written down for all sessions at once.

@SystemActor
@Suite("Bounds of the store")
struct StoreBoundsTests {
  private func count(_ table: String, _ cluster: Cluster, where condition: String = "true") throws -> Int {
    let text = try cluster.server.query("SELECT count(*) FROM cordon.\(table) WHERE \(condition)", at: cluster.storeURL)
    return try #require(Int(text))
  }

  @Test("Sign-ins that are begun write nothing, and an answer that is repeated is one mark")
  func attempts() throws {
    let cluster = try Cluster(2)
    defer { cluster.stop() }
    for number in 0..<400 {
      let begun = try cluster.client(of: number % 2).get(
        "/.auth/authorize?return_to=/\(number)",
        fields: [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Site", "none"), ("Sec-Fetch-Dest", "document")])
      guard [302, 303].contains(begun.status) else { throw HarnessError.malformed("authorize: \(begun.status)") }
    }
    for table in ["accounts", "sessions", "submitted_names", "single_use_marks"] {
      #expect(try count(table, cluster) == 0, "\(table)")
    }
    let visitor = Visitor()
    try visitor.start(cluster.site)
    try visitor.decide(.proceed(user: "anna"))
    let form = try visitor.answerForm()
    let attempt = visitor.jar
    try visitor.carryBack(form)
    let marks = try count("single_use_marks", cluster)
    for number in 0..<50 {
      let again = Visitor()
      again.jar = attempt
      cluster.lead(again, to: number % 2)
      try again.open(cluster.site.apple.baseURL + "/", following: false)
      #expect(try again.carryBack(form).status >= 400)
    }
    #expect(try count("single_use_marks", cluster) == marks)
    #expect(try count("sessions", cluster) == 1)
    #expect(try cluster.site.apple.tokenRequests("authorization_code").count == 1)
  }

  @Test("A notification that is repeated on every gateway is one mark; forged ones are none, for one fetch of the keys")
  func notifications() throws {
    let cluster = try Cluster(2)
    defer { cluster.stop() }
    _ = try cluster.site.signedIn()
    func post(_ token: String, to replica: Int) throws -> Int {
      try cluster.client(of: replica).post("/.auth/notifications", json: ["payload": token]).status
    }
    func order(_ more: [String: Any] = [:]) throws -> String {
      try cluster.site.apple.mint(
        ["client_id": GatewayConfiguration.clientID, "user": "anna", "notification": "consent-revoked"]
          .merging(more) { $1 })
    }
    let before = try count("single_use_marks", cluster)
    let token = try order()
    for number in 0..<100 { #expect(try post(token, to: number % 2) == 200) }
    #expect(try count("single_use_marks", cluster) == before + 1)
    try poll("99 repetitions in the audit") {
      let logs = cluster.gateways.map { String(decoding: $0.log, as: UTF8.self) }.joined()
      return logs.components(separatedBy: "\"effect\":\"repeated\"").count - 1 == 99 ? () : nil
    }

    try cluster.site.apple.forgetRequests()
    let forged = try JWTParts(try order(["token": ["signature": "unknown-key"]]))
    for number in 0..<300 {
      let other = try JWTParts.token(
        header: forged.header.merging(["kid": "K\(number)"]) { $1 },
        claims: forged.claims.merging(["jti": "forged-\(number)"]) { $1 }, signature: forged.parts[2])
      // 503 while no key may be fetched: a real one could be among them, and is sent again.
      #expect([400, 503].contains(try post(other, to: number % 2)))
    }
    #expect(try cluster.site.apple.requests(at: "/auth/keys").count <= 2)
    #expect(try count("single_use_marks", cluster) == before + 1)
  }

  @Test("A start removes expired rows, at most five hundred at a time, and nothing else")
  func removal() throws {
    let cluster = try Cluster(2)
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    let filling = """
      CREATE TABLE public.removals (rows bigint);
      CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO public.removals SELECT count(*) FROM gone; RETURN NULL; END';
      CREATE TRIGGER noted AFTER DELETE ON cordon.sessions REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION public.note();
      CREATE TRIGGER noted AFTER DELETE ON cordon.single_use_marks REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION public.note();
      INSERT INTO cordon.sessions (handle, subject, client_id, began, ends, last_seen)
        SELECT decode(md5(number::text), 'hex'), subject, client_id, began, 1, last_seen
        FROM cordon.sessions, generate_series(1, 1300) AS number;
      INSERT INTO cordon.single_use_marks (mark, until)
        SELECT decode(md5(number::text), 'hex'), 1 FROM generate_series(1, 1300) AS number;
      """
    try cluster.server.query(filling, at: cluster.storeURL)
    #expect(try count("sessions", cluster) == 1_301)
    for gateway in cluster.gateways { try gateway.restart() }
    try poll("what is over to be gone") {
      try count("sessions", cluster) == 1 && count("single_use_marks", cluster, where: "until = 1") == 0 ? () : nil
    }
    let removals = try cluster.server.query("SELECT sum(rows), max(rows) FROM public.removals", at: cluster.storeURL)
    #expect(removals == "2600|500")
    for replica in 0..<2 { #expect(try cluster.status(of: anna, at: replica) == 200) }
  }

  @Test("Last-seen updates of all sessions are written together, at the end of the gateway at the latest")
  func sightings() throws {
    let cluster = try Cluster(2, fakeClock: true)
    defer { cluster.stop() }
    let visitors = try (0..<12).map { try cluster.site.signedIn(as: $0 % 2 == 0 ? "anna" : "ben") }
    let unseen = "last_seen < began + 300000"
    #expect(try count("sessions", cluster, where: unseen) == 12)
    try cluster.site.setClock(secondsAhead: 600)
    for visitor in visitors {
      for _ in 0..<5 { #expect(try cluster.status(of: visitor, at: 1) == 200) }
    }
    cluster.gateways[1].process.signal(SIGTERM)
    _ = try cluster.gateways[1].process.waitForExit()
    #expect(try count("sessions", cluster, where: unseen) == 0)
    // One transaction, unless the minute was over in between.
    let writers = try cluster.server.query(
      "SELECT count(DISTINCT xmin::text) FROM cordon.sessions", at: cluster.storeURL)
    #expect(["1", "2"].contains(writers))
  }
}
