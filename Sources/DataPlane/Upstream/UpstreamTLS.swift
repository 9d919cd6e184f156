internal import Synchronization
internal import TLSTransport

/// TLS towards the `https:` addresses of one upstream: certificates and keys as they are at the moment. Asked once for
/// each connection that is made, never for a request.
final class UpstreamTLS: Sendable {
  /// The files that it is read from.
  let settings: UpstreamTLSSettings
  private let applicationProtocol: HTTPProtocol
  private let state: Mutex<TLSClientContext>

  /// - Throws: `TLSConfigurationError`.
  init(_ settings: UpstreamTLSSettings, applicationProtocol: HTTPProtocol) throws(TLSConfigurationError) {
    self.settings = settings
    self.applicationProtocol = applicationProtocol
    state = Mutex(try Self.make(settings, applicationProtocol))
  }

  /// For the connections to come.
  var context: TLSClientContext { state.withLock { $0 } }

  /// Reads every file again.
  /// - Throws: `TLSConfigurationError`; then everything stays as it was.
  func reload() throws(TLSConfigurationError) {
    let context = try Self.make(settings, applicationProtocol)
    state.withLock { $0 = context }
  }

  private static func make(
    _ settings: UpstreamTLSSettings, _ applicationProtocol: HTTPProtocol
  ) throws(TLSConfigurationError) -> TLSClientContext {
    try TLSClientContext(
      trust: settings.authorityFile.map { .file($0) } ?? .system,
      identity: settings.certificate.map {
        .init(certificateFile: $0.certificateFile, privateKeyFile: $0.privateKeyFile)
      },
      applicationProtocols: [applicationProtocol.rawValue])
  }
}
