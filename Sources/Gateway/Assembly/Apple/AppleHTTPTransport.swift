internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import NIOCore
internal import Operations
internal import Sessions

/// Sends requests to Apple with the data plane's own client, and counts them.
struct AppleHTTPTransport: Sendable {
  private let client: OriginClient
  private let server: AppleServer
  private let metrics: MetricsRegistry

  /// The timeout of a whole exchange. Apple sometimes takes more than two seconds.
  private static let timeout = Account.longestAnswer
  /// The limit of a response body. The largest one, the key set, has about 3 KiB.
  static let bodyLimit = 256 * 1024

  /// - Parameter bodyLimit: the limit of a response body, in bytes.
  init(
    _ server: AppleServer, bodyLimit: Int = Self.bodyLimit, metrics: MetricsRegistry, on eventLoop: any EventLoop
  ) async throws {
    self.server = server
    client = try await OriginClient(
      server.target, authority: server.authority, timeout: Self.timeout, bodyLimit: bodyLimit, on: eventLoop)
    self.metrics = metrics
  }

  /// The `AppleTransport` of this connection.
  @Sendable
  func send(_ request: AppleHTTPRequest) async throws(AppleTransportError) -> AppleHTTPResponse {
    let endpoint = Self.endpoint(request.head.path ?? "")
    let began = NIODeadline.now()
    defer {
      metrics.appleCallDurations.record(endpoint, seconds: Double((.now() - began).nanoseconds) / 1e9)
    }
    do throws(OriginError) {
      let response = try await client.send(request.head, body: request.body)
      metrics.appleCalls.count(endpoint, response.head.status.code == 200 ? "ok" : "\(response.head.status.code)")
      return AppleHTTPResponse(
        status: response.head.status.code, contentType: response.head.headerFields[.contentType],
        date: response.head.headerFields[.date], retryAfter: response.head.headerFields[.retryAfter],
        body: response.body)
    } catch {
      switch error {
      case .notSent(let reason):
        metrics.appleCalls.count(endpoint, "not_sent")
        throw .notSent(reason: reason + server.proxyNote)
      case .unanswered(let reason):
        metrics.appleCalls.count(endpoint, "unanswered")
        throw .unanswered(reason: reason + server.proxyNote)
      }
    }
  }

  /// The metrics label of an endpoint of Apple: the last part of its path.
  private static func endpoint(_ path: String) -> String {
    if path.utf8.starts(with: "/appleid/button".utf8) { return "button" }
    return ["token", "keys", "revoke", "usermigrationinfo"].first { path.utf8.elementsEqual("/auth/\($0)".utf8) }
      ?? "other"
  }
}

/// A server of Apple's, and the way to it.
struct AppleServer: Sendable {
  /// The server as an upstream: its file of authorities is read again when it changes.
  let target: UpstreamGroup
  /// The value of `Host`.
  fileprivate let authority: String
  /// The proxy, appended to the reasons of failures; empty without one.
  fileprivate let proxyNote: String

  /// Reads the file of authorities; blocks.
  /// - Parameters:
  ///   - baseURL: an origin of Apple's.
  ///   - settings: the trusted authorities.
  ///   - proxy: the HTTP proxy between this machine and Apple; nil for none.
  init(_ baseURL: String, _ settings: AppleSettings, through proxy: ConnectProxy?) throws {
    guard let address = OriginAddress(baseURL) else { throw AppleBaseURLError() }
    var upstream = UpstreamSettings(address: address.address)
    upstream.tls.authorityFile = settings.authorityFile
    target = try UpstreamGroup(upstream, proxy: proxy)
    authority = address.authority
    proxyNote = proxy.map { " (through the proxy \($0))" } ?? ""
  }
}

/// `apple.base_url` is not an origin. The configuration check reports it earlier, with its location.
struct AppleBaseURLError: Error, CustomStringConvertible {
  var description: String { "apple.base_url is not an origin such as https://appleid.apple.com" }
}

/// The parts of an origin: the address to connect to, and the value of `Host`.
private struct OriginAddress {
  let address: UpstreamAddress
  let authority: String

  init?(_ text: String) {
    guard let origin = try? PublicOrigin(parsing: text) else { return nil }
    var host = origin.host
    if host.utf8.first == UInt8(ascii: "[") { host = String(host.dropFirst().dropLast()) }
    address = .tcp(host: host, port: origin.port, tls: origin.scheme == .https)
    authority = origin.authority
  }
}
