import Foundation
import PostgreSQLServerTesting
import Testing

// Signing in over three gateways on one PostgreSQL database.
//
// - A sign-in begun on one finishes on another; its code and state work once, wherever they are tried again, later or
//   at the same moment.
// - A sign-in for an app is handed back by one and redeemed by another, once.

@SystemActor
@Suite("Signing in over several gateways")
struct ReplicaSignInTests {
  private static let replicas = 0..<3

  @Test("A sign-in begun on one gateway finishes on another, and its code and state work once on all of them")
  func signInAcross() throws {
    let cluster = try Cluster()
    defer { cluster.stop() }
    let visitor = Visitor()
    cluster.lead(visitor, to: 1)
    try visitor.start(cluster.site)
    try visitor.decide(.proceed(user: "anna"))
    let form = try visitor.answerForm()
    let attempt = visitor.jar
    cluster.lead(visitor, to: 2)
    try visitor.carryBack(form)
    for replica in Self.replicas { #expect(try cluster.status(of: visitor, at: replica) == 200) }
    // The same answer again, with the cookies of the browser that began.
    for replica in Self.replicas {
      let again = Visitor()
      again.jar = attempt
      cluster.lead(again, to: replica)
      try again.open(cluster.site.apple.baseURL + "/", following: false)
      let page = try again.carryBack(form)
      #expect(page.status >= 400, "gateway \(replica) answers \(page.status)")
      #expect(again.jar["__Host-cordon"] == nil)
    }
    #expect(try cluster.site.apple.tokenRequests("authorization_code").count == 1)
  }

  @Test("An answer that comes to all gateways at the same moment is one sign-in")
  func racingAnswers() async throws {
    let cluster = try Cluster()
    defer { cluster.stop() }
    let clients = Self.replicas.map { cluster.client(of: $0) }
    for round in 1...5 {
      let visitor = Visitor()
      cluster.lead(visitor, to: round % 3)
      try visitor.start(cluster.site)
      try visitor.decide(.proceed(user: "anna"))
      let form = try visitor.answerForm()
      let cookie = try #require(
        visitor.jar.header(host: "localhost", path: "/.auth/callback", crossSite: true, crossSiteUnsafe: true))
      let inputs = form.inputs
      let fields = [
        ("Cookie", cookie), ("Origin", cluster.site.apple.baseURL), ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
      ]
      let requests = (0..<12).map { number in
        Task.detached { try clients[number % 3].post("/.auth/callback", form: inputs, fields: fields) }
      }
      var answers: [HTTPResponse] = []
      for request in requests { answers.append(try await request.value) }
      let good = answers.filter { $0.setCookies.contains { $0.hasPrefix("__Host-cordon=") } }
      #expect(good.count == 1 && good.first?.status == 303, "\(answers.map(\.status))")
      #expect(answers.filter { $0.status >= 400 }.count == 11, "\(answers.map(\.status))")
      #expect(try cluster.site.apple.tokenRequests("authorization_code").count == round)
      #expect(
        try cluster.server.query("SELECT count(*) FROM cordon.sessions", at: cluster.storeURL) == "\(round)")
    }
  }

  @Test("A sign-in for an app, begun on one and answered on another, is redeemed on a third, once among all of them")
  func handBack() async throws {
    let cluster = try Cluster(adjust: {
      $0["native", "return_schemes"] = "[\"com.example.app\"]"
      $0["native", "bearer"] = "true"
    })
    defer { cluster.stop() }
    // Verifier and challenge of RFC 7636, appendix B.
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    for round in Self.replicas {
      let visitor = Visitor()
      cluster.lead(visitor, to: round)
      let items = [
        ("return_to", "com.example.app:/in"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
      ]
      _ = try visitor.open(cluster.site.own("authorize?\(FormEncoding.encode(items))"))
      try visitor.decide(.proceed(user: "anna"))
      cluster.lead(visitor, to: (round + 1) % 3)
      let location = try #require(try visitor.carryBack(following: false).response.location)
      let query = location.split(separator: "?").last.map(String.init) ?? ""
      let code = try #require(FormEncoding.decode(query).first { $0.0 == "code" }?.1)
      let clients = Self.replicas.map { cluster.client(of: $0) }
      // Another app's verifier is told nothing by any of them, and takes the code from nobody.
      for client in clients {
        let wrong = try client.post("/.auth/native/exchange", json: ["code": code, "code_verifier": challenge])
        #expect(wrong.status == 400)
      }
      let requests = (0..<9).map { number in
        Task.detached {
          try clients[(number + round) % 3].post(
            "/.auth/native/exchange", json: ["code": code, "code_verifier": verifier])
        }
      }
      var answers: [HTTPResponse] = []
      for request in requests { answers.append(try await request.value) }
      let good = answers.filter { $0.status == 200 }
      #expect(good.count == 1 && answers.filter { $0.status == 400 }.count == 8)
      let token = try #require(try good.first?.json()["session_token"] as? String)
      for client in clients {
        #expect(try client.get("/.auth/session", fields: [("Authorization", "Bearer \(token)")]).status == 200)
        let again = try client.post("/.auth/native/exchange", json: ["code": code, "code_verifier": verifier])
        // On a busy machine its minute is over by now, which is told first.
        let error = try again.json()["error"] as? String
        #expect(error == "attempt_used" || error == "attempt_expired", "\(again.status) \(again.text)")
      }
    }
  }
}
