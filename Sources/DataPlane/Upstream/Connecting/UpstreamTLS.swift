internal import TLSTransport

/// TLS towards the `https:` addresses of one upstream: certificates and keys as they are at the moment. Asked once for
/// each connection that is made, never for a request.
final class UpstreamTLS: Sendable {
  let settings: UpstreamTLSSettings
  private let applicationProtocol: HTTPProtocol
  private let files: LoadedFiles<TLSClientContext>

  /// - Throws: `TLSConfigurationError`.
  init(_ settings: UpstreamTLSSettings, applicationProtocol: HTTPProtocol) throws(TLSConfigurationError) {
    self.settings = settings
    self.applicationProtocol = applicationProtocol
    files = try LoadedFiles(settings.files) { () throws(TLSConfigurationError) in
      try UpstreamTLS.make(settings, applicationProtocol)
    }
  }

  /// For the connections to come.
  var context: TLSClientContext { files.value }

  /// Whether a file has changed since it was last read, with or without success, or could not be read at that moment.
  var isOutdated: Bool { files.isOutdated }

  /// Reads every file as a reload would, and changes nothing.
  /// - Throws: `TLSConfigurationError`.
  func validate() throws(TLSConfigurationError) { _ = try UpstreamTLS.make(settings, applicationProtocol) }

  /// Reads every file again.
  /// - Throws: `TLSConfigurationError`; then the context stays as it was.
  func reload() throws(TLSConfigurationError) {
    try files.reload { (_) throws(TLSConfigurationError) in try UpstreamTLS.make(settings, applicationProtocol) }
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
