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

  @Test("Envoy and Traefik ask the gateway about each request", arguments: proxies.keys.sorted())
  func asking(name: String) throws {
    let example = try Example(name)
    defer { example.stop() }
    try AskingProxy.startServers(of: example)
    let (program, arguments) = try #require(Self.proxies[name])
    try example.start(
      Machine.pythonProgram(program), arguments, listeningOn: 8_080, environment: ["HOME": example.path])
    // Traefik listens before it has read its routes.
    try poll("\(program) to have its routes") {
      let answer = try HTTPClient(port: example.port(8_080), authority: "localhost:\(example.port(8_080))").get("/")
      return answer.status == 404 ? nil : ()
    }
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
}
