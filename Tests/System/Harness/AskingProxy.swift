import Foundation
import Testing

/// The expectations on every proxy that asks the gateway about each request (`verify`) and forwards by itself, as the
/// examples configure it.
@SystemActor
enum AskingProxy {
  /// Starts the application and the gateway that the proxy stands before.
  static func startServers(of example: Example) throws {
    let app = Machine.packageRoot.appending(path: "examples/legacy-wsgi/app.py").path
    try example.start(
      Machine.program("python3", package: "python3"), [app, "\(example.port(3_000))"], listeningOn: 3_000)
    try example.startGateway(listeningOn: 8_081)
  }

  /// Strangers are led to sign in and back, users come through with their headers, forged ones do not, and the
  /// gateway's rules hold.
  /// - Parameter tellsScripts: whether a script without a session gets 401, rather than the redirect of a browser.
  static func check(_ example: Example, tellsScripts: Bool = true) throws {
    let toScripts = tellsScripts ? 401 : 302
    // Not signed in: to the sign-in page, and back to what was wanted. Dana has no address.
    let (visitor, page) = try example.signedIn(as: "dana", at: "/headers")
    #expect(page.address.path == "/headers")
    #expect(page.text.contains("X-Forwarded-User: "), "\(page.text)")
    #expect(page.text.contains("X-Forwarded-Name: Dana"), "\(page.text)")
    let subject = try example.apple.subject(of: "dana")
    #expect(page.text.contains(subject))

    // The whole address is wanted again: query, escapes and slashes.
    for wanted in ["/headers?a=1&b=%26%2F", "/headers%20x//y%2Fz?q=%0d%0aX-Injected:%20yes"] {
      let led = try Visitor().open(example.origin + wanted, following: false)
      #expect((300..<400).contains(led.status), "\(wanted): \(led.status)")
      #expect(!led.response.fields.contains("X-Injected"))
      let location = try WebAddress(#require(led.response.location), relativeTo: led.address)
      #expect(location.path == "/.auth/sign-in" && location[parameter: "return_to"] == wanted, "\(location)")
    }
    // What splits a response when it is decoded is denied, and splits none.
    let split = try HTTPClient(port: example.port(8_080), authority: "localhost:\(example.port(8_080))")
      .get("/a%0d%0aX-Injected:%20yes")
    #expect(!split.fields.contains("X-Injected"))
    // A script is told, not sent away.
    let script = try Visitor().fetch(example.origin + "/headers", fields: [("Accept", "application/json")])
    #expect(script.status == toScripts)

    let forged = try visitor.fetch(
      example.origin + "/headers",
      fields: [("X-Forwarded-User", "001234.forged"), ("X-Forwarded-Email", "ben@example.com")])
    #expect(forged.status == 200)
    #expect(!forged.text.contains("forged") && !forged.text.contains("ben@example.com"), "\(forged.text)")
    // Nor in a spelling that WSGI takes for the same.
    for name in ["X_Forwarded_User", "X-Forwarded_Email", "X_Forwarded-Name"] {
      let spelled = try visitor.fetch(example.origin + "/headers", fields: [(name, "forged")])
      #expect([200, 400].contains(spelled.status) && !spelled.text.contains("forged"), "\(name): \(spelled.text)")
    }
    // The gateway's rule for the path that the proxy was asked for, whatever the client says that it is.
    for forged in [
      ("X-Original-URI", "/"), ("X-Forwarded-Uri", "/"), ("X-Original-URL", "\(example.origin)/"),
      ("X-Forwarded-Host", "evil.test"), ("X-Forwarded-Method", "OPTIONS"), ("X-Forwarded-For", "10.0.0.1"),
      ("X-Auth-Redirect", "1"), ("X-Original-Method", "GET"),
    ] {
      #expect(try visitor.fetch(example.origin + "/office/", fields: [forged]).status == 403, "\(forged)")
      let page = try visitor.fetch(example.origin + "/headers", fields: [forged])
      #expect(page.status == 200, "\(forged): \(page.status)")
      let stranger = try Visitor().fetch(example.origin + "/headers", fields: [forged, ("Accept", "*/*")])
      #expect(stranger.status == toScripts, "\(forged)")
    }
    // No method passes where the rule is for all.
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
      #expect(try visitor.fetch(example.origin + "/office/", method: method).status == 403, "\(method)")
    }
  }
}
