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
    /// Whether reading failed, and may succeed later although nothing of the files changes.
    var isUnread = false
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

  /// Whether a file has changed since it was last read, with or without success, or could not be read at that moment.
  var isOutdated: Bool {
    let (seen, isUnread) = state.withLock { ($0.seen, $0.isUnread) }
    return isUnread || seen != FileAttributes(settings.files)
  }

  /// Reads every file again.
  /// - Throws: `TLSConfigurationError`; then the context stays as it was.
  func reload() throws(TLSConfigurationError) {
    let seen = FileAttributes(settings.files)
    state.withLock { $0.seen = seen }
    do throws(TLSConfigurationError) {
      let context = try Self.make(settings, applicationProtocol)
      state.withLock { state in
        state.context = context
        state.isUnread = false
      }
    } catch {
      state.withLock { $0.isUnread = error.isTransient }
      throw error
    }
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
