internal import Secrets
internal import Synchronization
internal import TLSTransport

/// TLS towards the `https:` addresses of one upstream: certificates and keys as they are at the moment. Asked once for
/// each connection that is made, never for a request.
final class UpstreamTLS: Sendable {
  let settings: UpstreamTLSSettings
  private let applicationProtocol: HTTPProtocol
  private let state: Mutex<State>

  private struct State {
    var context: TLSClientContext
    /// The attributes of the files just before they were last read.
    var seen: FileAttributes
  }

  /// - Throws: `TLSConfigurationError`.
  init(_ settings: UpstreamTLSSettings, applicationProtocol: HTTPProtocol) throws(TLSConfigurationError) {
    self.settings = settings
    self.applicationProtocol = applicationProtocol
    let seen = FileAttributes(settings.files)
    state = Mutex(State(context: try Self.make(settings, applicationProtocol), seen: seen))
  }

  /// For the connections to come.
  var context: TLSClientContext { state.withLock { $0.context } }

  /// Whether a file has changed since it was last read, with or without success.
  var isOutdated: Bool { state.withLock { $0.seen } != FileAttributes(settings.files) }

  /// Reads every file again.
  /// - Throws: `TLSConfigurationError`; then the context stays as it was.
  func reload() throws(TLSConfigurationError) {
    let seen = FileAttributes(settings.files)
    state.withLock { $0.seen = seen }
    let context = try Self.make(settings, applicationProtocol)
    state.withLock { $0.context = context }
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

extension UpstreamTLSSettings {
  /// Every file that a reload reads.
  fileprivate var files: [String] {
    (certificate.map { [$0.certificateFile, $0.privateKeyFile] } ?? []) + (authorityFile.map { [$0] } ?? [])
  }
}
