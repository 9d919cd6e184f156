import Foundation
import Testing

// Envoy and Traefik of PyPI, which ask the gateway about each request, as they stand in examples/. `make
// test-applications` runs them, because they are not in Debian.

@SystemActor
@Suite("Proxies that are not in Debian")
struct ProxyApplicationTests {
  /// Their programs and arguments, by the folders of their examples.
  nonisolated private static let proxies = [
    "behind-envoy": ("envoy", ["-c", "envoy.yaml", "--disable-hot-restart", "--concurrency", "1"]),
    "behind-traefik": ("traefik", ["--configFile=traefik.yaml"]),
  ]

  private func startServers(of example: Example, name: String) throws {
    try AskingProxy.startServers(of: example)
    let (program, arguments) = try #require(Self.proxies[name])
    try example.start(
      Machine.pythonProgram(program), arguments, listeningOn: 8_080, environment: ["HOME": example.path])
    // Traefik listens before it has read its routes.
    try poll("\(program) to have its routes") {
      let answer = try HTTPClient(port: example.port(8_080), authority: "localhost:\(example.port(8_080))").get("/")
      return answer.status == 404 ? nil : ()
    }
  }

  @Test("Envoy and Traefik ask the gateway about each request", arguments: proxies.keys.sorted())
  func asking(name: String) throws {
    let example = try Example(name)
    defer { example.stop() }
    try startServers(of: example, name: name)
    try AskingProxy.check(example)
    // Both pass the gateway's own answer on, with the address for a program that can show a sign-in.
    let refused = try Visitor().fetch(example.origin + "/headers?a=1&b=%26", fields: [("Accept", "application/json")])
    let address = try WebAddress(#require(refused.fields["X-Auth-Sign-In"]))
    #expect(refused.status == 401 && address.origin == example.origin && address.path == "/.auth/sign-in")
    #expect(address[parameter: "return_to"] == "/headers?a=1&b=%26", "\(address)")
    // The handshake of a WebSocket that a page of another site opens.
    let (signedIn, _) = try example.signedIn(as: "anna", at: "/headers")
    for (origin, status) in [("https://evil.example", 403), (example.origin, 200)] {
      let fields = [("Origin", origin), ("Sec-WebSocket-Version", "13")]
      #expect(try signedIn.fetch(example.origin + "/headers", fields: fields).status == status, "\(origin)")
    }
    // Envoy leads a browser from a refusal to the gateway's page for asking for access.
    if name == "behind-envoy" {
      let (visitor, _) = try example.signedIn(as: "anna", at: "/headers")
      let page = try visitor.open(example.origin + "/office/")
      #expect(page.address.path == "/.auth/request-access" && page.text.contains("Ask for access"), "\(page.text)")
    }
  }

  @Test("Behind a load balancer Traefik passes the client's address on, and clients choose no path that it asks about")
  func balancer() throws {
    let example = try Example("behind-traefik")
    defer { example.stop() }
    try example.change("routes.yaml") {
      $0.replacing("trustForwardHeader: false", with: "trustForwardHeader: true")
    }
    try example.change("traefik.yaml") {
      $0.replacing("    http:\n", with: "    forwardedHeaders: { trustedIPs: [127.0.0.1/32] }\n    http:\n")
    }
    try example.change("gateway.conf") {
      $0 + "\n[[route]]\npath = \"/network/\"\nnetworks = [\"203.0.113.0/24\"]\n"
    }
    try startServers(of: example, name: "behind-traefik")
    let (visitor, _) = try example.signedIn(as: "anna", at: "/headers")
    for (address, status) in [("203.0.113.7", 404), ("198.51.100.7", 403)] {
      let answer = try visitor.fetch(example.origin + "/network/", fields: [("X-Forwarded-For", address)])
      #expect(answer.status == status, "\(address): \(answer.text)")
    }
    for forged in [("X-Forwarded-Uri", "/"), ("X-Forwarded-Host", "evil.test"), ("X-Forwarded-Method", "OPTIONS")] {
      #expect(try visitor.fetch(example.origin + "/office/", fields: [forged]).status == 403, "\(forged)")
      #expect(try visitor.fetch(example.origin + "/headers", fields: [forged]).status == 200, "\(forged)")
    }
  }
}
