import Foundation
import PostgreSQLServerTesting

/// Several gateways behind one name, on one PostgreSQL database: as behind a load balancer. Each test selects the
/// gateway of a request.
@SystemActor
final class Cluster {
  let server: PostgreSQLServer
  let storeURL: String
  /// Application, Apple, and the first gateway, whose port is that of `public_url`.
  let site: Site
  let gateways: [GatewayProcess]

  /// - Parameters:
  ///   - server: a server of the test's own; nil starts one.
  ///   - adjust: changes the configuration of every gateway before it is written.
  init(
    _ count: Int = 3, fakeClock: Bool = false, server: PostgreSQLServer? = nil,
    upstream: @escaping RawUpstream.RequestHandler = RawUpstream.greet,
    adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws {
    let server = try server ?? PostgreSQLServer()
    self.server = server
    let url = try server.makeDatabase()
    storeURL = url
    site = try Site(fakeClock: fakeClock, upstream: upstream) { configuration in
      configuration["store", "url"] = "\"\(url)\""
      adjust(&configuration)
    }
    var gateways = [site.gateway]
    for _ in 1..<count {
      var configuration = try GatewayConfiguration(
        upstream: "http://127.0.0.1:\(site.upstream.port)", apple: site.apple.baseURL)
      configuration["", "public_url"] = "\"\(site.origin)\""
      configuration["store", "url"] = "\"\(url)\""
      adjust(&configuration)
      gateways.append(try GatewayProcess(configuration, clock: site.clock))
    }
    self.gateways = gateways
  }

  func stop() {
    for gateway in gateways.dropFirst() { gateway.stop() }
    site.stop()
  }

  /// The gateways' common name.
  var authority: String { site.gateway.client.authority }

  func client(of replica: Int) -> HTTPClient {
    var client = HTTPClient(port: gateways[replica].configuration.port)
    client.authority = authority
    return client
  }

  /// From now on the visitor's requests go to this gateway.
  func lead(_ visitor: Visitor, to replica: Int) {
    visitor.detours[site.gateway.configuration.port] = gateways[replica].configuration.port
  }

  /// Returns the response of `session` to a visitor at one of the gateways.
  func status(of visitor: Visitor, at replica: Int) throws -> Int {
    lead(visitor, to: replica)
    return try visitor.fetch(site.own("session")).status
  }

  /// Signs a visitor out at one of the gateways.
  func signOut(_ visitor: Visitor, at replica: Int) throws {
    lead(visitor, to: replica)
    let response = try visitor.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
    guard [200, 204, 303].contains(response.status) else {
      throw HarnessError.malformed("a sign-out: \(response.status) \(response.text)")
    }
  }

  /// The checks that `/readyz` or `/healthz` of a gateway reports, by their names.
  func health(of replica: Int) throws -> (status: Int, text: String) {
    let response = try gateways[replica].admin.get("/readyz")
    return (response.status, response.text)
  }
}
