internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import NIOCore
internal import Operations
internal import Secrets
internal import WebFormats

/// Carries requests to Apple over the data plane's own client, and counts them.
struct AppleHTTPTransport: Sendable {
  private let client: OriginClient
  /// The proxy, as reasons of failures name it; empty without one.
  private let way: String
  private let metrics: MetricsRegistry

  /// Apple answers in more than two seconds at times; a whole exchange may take this long.
  private static let timeout = Duration.seconds(12)
  /// The largest honest answer, the key set, has about 3 KiB.
  static let bodyLimit = 256 * 1024

  /// - Parameters:
  ///   - baseURL: an origin of Apple's.
  ///   - settings: whose authorities vouch for it, and which proxy leads to it.
  ///   - bodyLimit: most bytes of an answer.
  init(
    _ baseURL: String, _ settings: AppleSettings, bodyLimit: Int = Self.bodyLimit, metrics: MetricsRegistry,
    on eventLoop: any EventLoop
  ) async throws {
    guard let address = OriginAddress(baseURL) else { throw AppleBaseURLError() }
    var upstream = UpstreamSettings(address: address.address)
    upstream.tls.authorityFile = settings.authorityFile
    let target = try UpstreamGroup(upstream, proxy: settings.proxy.map { ConnectProxy($0) })
    way = settings.proxy.map { " (through the proxy \($0))" } ?? ""
    client = try await OriginClient(
      target, authority: address.authority, timeout: Self.timeout, bodyLimit: bodyLimit, on: eventLoop)
    self.metrics = metrics
  }

  /// The one function that AppleIdentity asks for.
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
        date: response.head.headerFields[.date], body: response.body)
    } catch {
      switch error {
      case .notSent(let reason):
        metrics.appleCalls.count(endpoint, "not_sent")
        throw .notSent(reason: reason + way)
      case .unanswered(let reason):
        metrics.appleCalls.count(endpoint, "unanswered")
        throw .unanswered(reason: reason + way)
      }
    }
  }

  /// The last part of the path, of those that Apple has.
  private static func endpoint(_ path: String) -> String {
    if path.utf8.starts(with: "/appleid/button".utf8) { return "button" }
    return ["token", "keys", "revoke", "usermigrationinfo"].first { path.utf8.elementsEqual("/auth/\($0)".utf8) }
      ?? "other"
  }
}

extension ConnectProxy {
  fileprivate init(_ proxy: AppleProxy) {
    self.init(
      host: proxy.host, port: proxy.port,
      authorization: proxy.credentials.map { .init(Array("Basic ".utf8) + Base64.encode($0.exposedBytes)) })
  }
}

/// `apple.base_url` is no origin. The configuration's check says so earlier, with its place.
struct AppleBaseURLError: Error, CustomStringConvertible {
  var description: String { "apple.base_url is not an origin such as https://appleid.apple.com" }
}

/// An origin taken apart: where to connect, and what `Host` says.
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
