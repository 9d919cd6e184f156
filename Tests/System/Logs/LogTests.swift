import Foundation
import Testing

// The logs, after a whole life with attacks in it, at the most talkative level.
//
// - No secret, cookie, code, token, state, nonce, and nobody's name or address.
// - Each line is one JSON object: no raw CR or LF or other control character that a stranger sent.

@SystemActor
@Suite("Logs")
struct LogTests {
  @Test("Nothing secret and nothing forged stands in the logs after signing in, attacks, a check and signing out")
  func nothingSecret() throws {
    let site = try Site(
      fakeClock: true,
      adjust: {
        $0["log", "level"] = "\"trace\""
        $0["log", "access"] = "true"
        $0["log", "format"] = "\"json\""
      })
    defer { site.stop() }
    var secrets: [String: String] = ["session secret": GatewayConfiguration.sessionSecret]
    let key = try AppleKey.shared.get().privatePEM.split(separator: "\n").map(String.init)
    secrets["private key"] = key.first { !$0.contains("-") }

    let visitor = Visitor()
    try visitor.start(site, returnTo: "/landing?secret=query")
    let request = try #require(site.apple.requests(at: "/auth/authorize").last)
    secrets["state"] = request.query["state"]
    secrets["nonce"] = request.query["nonce"]
    secrets["attempt cookie"] = visitor.jar.cookies.first { $0.name.hasPrefix("__Host-cordon-attempt-") }?.value
    try visitor.decide(.proceed(user: "anna"))
    let form = try visitor.answerForm()
    for name in ["code", "id_token"] { secrets[name] = form.inputs.first { $0.0 == name }?.1 }
    try visitor.carryBack()
    secrets["session cookie"] = visitor.jar["__Host-cordon"]
    secrets["client secret"] = try site.apple.tokenRequests("authorization_code").last?.form["client_secret"]
    secrets["e-mail"] = "anna.bergstrom@example.com"
    secrets["name"] = "Bergstr"

    try attack(site, form)
    try site.setClock(secondsAhead: 36 * 3_600)
    _ = try visitor.fetch(site.own("session"))
    let check = try poll("a check") { try site.apple.tokenRequests("refresh_token").first }
    secrets["refresh token"] = check.form["refresh_token"]
    secrets["second client secret"] = check.form["client_secret"]
    _ = try visitor.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
    try site.gateway.restart()

    let log = site.gateway.log
    #expect(!log.isEmpty)
    for (name, secret) in secrets {
      #expect(!secret.isEmpty)
      #expect(log.firstRange(of: Array(secret.utf8)) == nil, "\(name)")
      // Nor any telling part of it.
      #expect(secret.count < 48 || log.firstRange(of: Array(secret.prefix(40).utf8)) == nil, "the beginning of \(name)")
      #expect(secret.count < 48 || log.firstRange(of: Array(secret.suffix(40).utf8)) == nil, "the end of \(name)")
    }
    #expect(secrets.count >= 12)
    for line in log.split(separator: 10) {
      #expect(line.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(String(decoding: line, as: UTF8.self).debugDescription)")
      let object = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      #expect(object != nil, "\(String(decoding: line, as: UTF8.self))")
      #expect(object?["forged"] == nil)
    }
  }

  /// Everything that a stranger can write somewhere, with line breaks and quotes in it.
  private func attack(_ site: Site, _ form: HTMLForm) throws {
    let authority = site.gateway.client.authority
    let heads = [
      "GET /a%0d%0a%7b%22forged%22:1%7d HTTP/1.1\r\nHost: \(authority)\r\n\r\n",
      "GET /a?x=%0a{\"forged\":1} HTTP/1.1\r\nHost: \(authority)\r\nUser-Agent: \"}\\n{\"forged\":1}\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: \(authority)\r\nUser-Agent: a\n{\"forged\":1}\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: \(authority)\r\nUser-Agent: a\r{\"forged\":1}\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: \u{1b}[31m\(authority)\r\n\r\n", "G\u{0}T / HTTP/1.1\r\nHost: \(authority)\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: \(authority)\r\nX-Request-Id: a\u{1b}]0;x\u{7}{\"forged\":1}\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: \(authority)\r\nReferer: http://x/?code=\(form.inputs.first { $0.0 == "code" }?.1 ?? "")\r\n\r\n",
      "GET /.auth/callback?\(FormEncoding.encode(form.inputs)) HTTP/1.1\r\nHost: \(authority)\r\n\r\n",
      "GET /.auth/sign-in?return_to=%0d%0a{\"forged\":1} HTTP/1.1\r\nHost: \(authority)\r\n\r\n",
      "GET /.auth/session HTTP/1.1\r\nHost: \(authority)\r\nAuthorization: Bearer \(form.inputs.first { $0.0 == "id_token" }?.1 ?? "")\r\n\r\n",
    ]
    for head in heads {
      let connection = try site.gateway.connect()
      try connection.send(head)
      _ = try? HTTPResponse.read(from: connection)
    }
    let stranger = Visitor()
    try stranger.open("\(site.apple.baseURL)/simulator")
    try stranger.carryBack(form)
    try stranger.carryBack(form.filling(["state": "\r\n{\"forged\":1}", "error": "\n{\"forged\":1}"]))
  }
}
