import AccessPolicy
import DataPlane
import HTTPTypes
import Logging
import Pages
import Sessions
import Testing
import WebFormats

@testable import Gateway

// External authorization: decisions on the request that another proxy asks about.
//
// - Without the method every method must be admitted; without the address no network is met.
// - 401 with the address to sign in at; a redirect where it is asked for; every byte of the address escaped.
@Suite("External authorization")
struct VerifyTests {
  private static let navigation = ["Accept: text/html", "Sec-Fetch-Mode: navigate"]

  @Test("Without a believed method every method must be admitted; below verify/ it is that of the request")
  func methods() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI]))
    let path = "X-Original-URI: /wiki/x"
    for method in ["GET", "POST", "HEAD", "OPTIONS", "PURGE"] {
      #expect(try await rig.decide(asked([path], method: method)).status == 401, "\(method)")
    }
    #expect(try await rig.decide(asked([path, "X-Forwarded-Method: GET"])).status == 401)
    try await rig.apply(try GatewaySettings.forVerify([.originalURI, .method, .path]))
    #expect(try await rig.decide(asked([path, "X-Forwarded-Method: GET"], method: "POST")).status == 200)
    #expect(try await rig.decide(asked([path, "X-Forwarded-Method: POST"])).status == 401)
    #expect(try await rig.decide(asked([path, "X-Forwarded-Method: get"])).status == 403)
    #expect(try await rig.decide(asked([path])).status == 401)
    #expect(try await rig.decide(asked([], "/.auth/verify/wiki/x", method: "HEAD")).status == 200)
    #expect(try await rig.decide(asked([], "/.auth/verify/wiki/x", method: "POST")).status == 401)
    try await rig.stop()
  }

  @Test("CONNECT and TRACE are refused where no route is restricted and the path is not known, too")
  func connectAndTrace() async throws {
    var settings = try GatewaySettings.forTests()
    settings.verify.believe = [.originalURI, .method]
    let rig = try await GateRig(settings)
    let (_, cookie) = try rig.signIn("001.anna")
    for (method, status) in [("CONNECT", 403), ("TRACE", 403), ("connect", 403), ("PURGE", 200)] {
      let fields = ["Cookie: \(cookie)", "X-Forwarded-Method: \(method)"]
      #expect(try await rig.decide(asked(fields)).status == status, "\(method)")
    }
    try await rig.stop()
  }

  @Test("Without a believed address no network is met")
  func networks() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI]))
    let (_, cookie) = try rig.signIn("001.anna")
    let fields = ["Cookie: \(cookie)", "X-Original-URI: /near/x"]
    let named = fields + ["X-Forwarded-For: 10.1.2.3"]
    #expect(try await rig.decide(asked(named, address: "10.1.2.3")).status == 403)
    try await rig.apply(try GatewaySettings.forVerify([.originalURI, .address]))
    #expect(try await rig.decide(asked(named, address: "10.1.2.3")).status == 200)
    #expect(try await rig.decide(asked(named, address: "192.0.2.1")).status == 403)
    #expect(try await rig.decide(asked(fields, address: "10.1.2.3")).status == 403)
    // One line is a list: each proxy appends to it. A second line may be the client's own.
    let list = fields + ["X-Forwarded-For: 203.0.113.9, 10.1.2.3"]
    #expect(try await rig.decide(asked(list, address: "10.1.2.3")).status == 200)
    let repeated = fields + ["X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 10.1.2.3"]
    #expect(try await rig.decide(asked(repeated, address: "10.1.2.3")).status == 403)
    try await rig.stop()
  }

  @Test("A 401 carries the address to sign in at, with the whole original address escaped")
  func signInAddress() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify())
    let page = "https://app.example.com/.auth/sign-in"
    for (path, returnTo) in [
      ("/a?b=c&d=%26#", "?return_to=/a%3Fb%3Dc%26d%3D%2526%23"), ("/", "?return_to=/"),
      ("/a?return_to=//evil.test&x=\"<>\"", "?return_to=/a%3Freturn_to%3D//evil.test%26x%3D%22%3C%3E%22"),
      ("/a?x=%0d%0aSet-Cookie:a", "?return_to=/a%3Fx%3D%250d%250aSet-Cookie%3Aa"),
      ("/.auth/sign-out", "?return_to=/"),
    ] {
      let fields = [path.contains("#") ? "X-Original-URI: /a?b=c&d=%26" : "X-Original-URI: \(path)"]
      let answer = try await rig.answer(asked(fields))
      #expect(answer.status == .unauthorized, "\(path)")
      let expected = path.contains("#") ? "?return_to=/a%3Fb%3Dc%26d%3D%2526" : returnTo
      #expect(answer.headerFields[HTTPField.Name("X-Auth-Sign-In")!] == page + expected, "\(path)")
      #expect(answer.headerFields[.wwwAuthenticate] == "Bearer" && answer.headerFields[.location] == nil)
    }
    let unknown = try await rig.answer(asked([], isTrusted: false))
    #expect(unknown.headerFields[HTTPField.Name("X-Auth-Sign-In")!] == page)
    try await rig.stop()
  }

  @Test("A navigation without a session is redirected where that is asked for, and nothing else is")
  func redirects() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI, .method, .redirect, .path]))
    let location = "https://app.example.com/.auth/sign-in?return_to=/a%3Fb%3Dc%26d"
    let fields = Self.navigation + ["X-Original-URI: /a?b=c&d"]
    let redirect = "/.auth/verify?x&redirect=1"
    #expect(try await rig.answer(asked(fields, redirect)).headerFields[.location] == location)
    #expect(try await rig.decide(asked(fields, redirect)).status == 302)
    #expect(
      try await rig.answer(asked(fields, redirect)).headerFields[HTTPField.Name("X-Robots-Tag")!]
        == "noindex, nofollow")
    #expect(try await rig.decide(asked(fields + ["X-Auth-Redirect: 1"])).status == 302)
    #expect(
      try await rig.answer(asked(Self.navigation + ["X-Auth-Redirect: 1"], "/.auth/verify/a?b=c&d"))
        .headerFields[.location] == location)
    for request in [
      asked(fields), asked(fields, "/.auth/verify?redirect=10"), asked(fields + ["X-Auth-Redirect: 0"]),
      asked(["X-Original-URI: /a", "Accept: application/json"], redirect),
      asked(["X-Original-URI: /a", "Accept: text/html", "Sec-Fetch-Mode: cors"], redirect),
      asked(Self.navigation + ["X-Original-URI: /api/x"], redirect),
      asked(Self.navigation + ["X-Original-URI: /a", "X-Forwarded-Method: POST"], redirect),
      asked(fields, redirect, method: "POST"), asked(Self.navigation, redirect),
      asked(fields, redirect, isTrusted: false),
      // Below verify/ the query is that of the original request.
      asked(Self.navigation, "/.auth/verify/a?redirect=1"),
    ] {
      #expect(try await rig.decide(request).status == 401, "\(request.text)")
    }
    #expect(try await rig.decide(asked(Self.navigation + ["X-Original-URI: /closed/x"], redirect)).status == 403)
    #expect(try await rig.decide(asked(Self.navigation + ["X-Original-URI: /open/x"], redirect)).status == 200)
    // Who has signed in too long ago is sent to sign in again.
    let (_, cookie) = try rig.signIn("001.anna")
    rig.clock.advance(3_600)
    let old = Self.navigation + ["Cookie: \(cookie)", "X-Original-URI: /fresh/x"]
    #expect(try await rig.decide(asked(old, redirect)).status == 302)
    #expect(try await rig.decide(asked(old)).status == 401)
    try await rig.stop()
  }

  @Test("A session gets the identity headers, for any method, and nobody else's")
  func identity() async throws {
    let rig = try await GateRig(try GatewaySettings.forVerify([.originalURI, .path]))
    let (_, cookie) = try rig.signIn("001.anna")
    for method in ["GET", "POST", "PUT", "DELETE", "PROPFIND"] {
      let fields = ["Cookie: \(cookie)", "X-User: 002.ben"]
      let answer = try await rig.answer(asked(fields + ["X-Original-URI: /x"], method: method))
      #expect(answer.status == .ok && answer.headerFields[HTTPField.Name("X-User")!] == "001.anna", "\(method)")
      #expect(try await rig.decide(asked(fields, "/.auth/verify/x", method: method)).status == 200)
    }
    try await rig.stop()
  }
}
