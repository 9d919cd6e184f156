internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import IdentityAssertion
internal import NIOCore

extension NotificationRelay {
  /// The route to the application: its endpoint and the signer.
  struct Route: Sendable {
    let endpoint: EndpointAddress
    private let client: OriginClient
    private let signer: AssertionSigner
    private let lifetime: Duration

    /// The timeout for one request to the application.
    private static let timeout = Duration.seconds(10)

    /// Nil if notifications are not forwarded.
    init?(
      to endpoint: EndpointAddress?, _ settings: AssertionSettings, signer: AssertionSigner?,
      on eventLoop: any EventLoop
    ) async throws {
      guard let endpoint, let signer else { return nil }
      self.endpoint = endpoint
      // A separate audience, so that these tokens are not accepted as identity assertions.
      self.signer = signer.addressing("\(settings.audience)/notifications")
      lifetime = settings.lifetime
      client = try await OriginClient(
        try UpstreamGroup(UpstreamSettings(address: endpoint.address)), authority: endpoint.authority,
        timeout: Self.timeout, bodyLimit: 64 * 1024, on: eventLoop)
    }

    /// - Returns: the reason of a failure; nil if the application accepted it.
    func post(_ notification: RelayedNotification, _ now: Date) async -> String? {
      let signed: SignedAssertion
      do throws(AssertionSigningError) {
        signed = try signer.sign(notification.claims, now: now, lifetime: lifetime)
      } catch {
        return error.message
      }
      let envelope = ["notification": signed.token, "payload": notification.payload]
      let body = (try? JSONEncoder().encode(envelope)).map { Array($0) } ?? []
      let request = HTTPRequest(
        method: .post, scheme: nil, authority: endpoint.authority, path: endpoint.path,
        headerFields: [.contentType: "application/json", .accept: "*/*"])
      do throws(OriginError) {
        let status = try await client.send(request, body: body).head.status
        return status.kind == .successful ? nil : "answered \(status.code)"
      } catch {
        return error.reason
      }
    }
  }
}
