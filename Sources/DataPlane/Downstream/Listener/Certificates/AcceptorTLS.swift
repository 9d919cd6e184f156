internal import TLSTransport

/// The current certificates and keys of one listener. Used by reloads only, never by a connection: each new context is
/// passed to the event loops.
final class AcceptorTLS: Sendable {
  private let settings: AcceptorTLSSettings
  private let transport: TLSServerSettings
  private let files: LoadedFiles<Loaded>

  private struct Loaded: Sendable {
    let context: TLSServerContext
    let keys: TLSTicketKeys
  }

  /// - Parameters:
  ///   - applicationProtocols: what ALPN may agree on, the preferred one first.
  ///   - previous: the current one, whose in-memory ticket keys are kept.
  /// - Throws: `TLSConfigurationError`.
  init(
    _ settings: AcceptorTLSSettings, applicationProtocols: [String], after previous: AcceptorTLS? = nil
  ) throws(TLSConfigurationError) {
    let transport = settings.transport(applicationProtocols)
    let keys = previous?.keysInMemory
    self.settings = settings
    self.transport = transport
    files = try LoadedFiles(settings.files) { () throws(TLSConfigurationError) in
      try AcceptorTLS.load(settings, transport, keysBefore: keys)
    }
  }

  /// The context for new connections.
  var context: TLSServerContext { files.value.context }

  private var keysInMemory: TLSTicketKeys? { settings.ticketKeyFiles.isEmpty ? files.value.keys : nil }

  /// Whether a file has changed since it was last read, with or without success, or could not be read at that moment.
  var isOutdated: Bool { files.isOutdated }

  /// Reads every file again.
  /// - Throws: `TLSConfigurationError`; then the context and the ticket keys stay as they were.
  func reload() throws(TLSConfigurationError) {
    try files.reload { (before) throws(TLSConfigurationError) in
      try AcceptorTLS.load(settings, transport, keysBefore: before.keys)
    }
  }

  /// Replaces ticket keys held in memory. Those in files are rotated by the operator.
  func rotateTicketKeys() throws(TLSConfigurationError) {
    guard settings.ticketKeyFiles.isEmpty else { return }
    let old = files.value
    let keys = try old.keys.rotated()
    files.replace(Loaded(context: try old.context.with(keys), keys: keys))
  }

  private static func load(
    _ settings: AcceptorTLSSettings, _ transport: TLSServerSettings, keysBefore: TLSTicketKeys?
  ) throws(TLSConfigurationError) -> Loaded {
    let keys = try Self.keys(settings, before: keysBefore)
    return Loaded(context: try TLSServerContext(transport, ticketKeys: keys), keys: keys)
  }

  /// Keys in memory outlive a reload: sessions can still be resumed.
  private static func keys(
    _ settings: AcceptorTLSSettings, before: TLSTicketKeys?
  ) throws(TLSConfigurationError) -> TLSTicketKeys {
    if !settings.ticketKeyFiles.isEmpty { return try TLSTicketKeys(files: settings.ticketKeyFiles) }
    if let before { return before }
    return try .random()
  }
}

extension AcceptorTLSSettings {
  /// The same in the terms of TLSTransport.
  fileprivate func transport(_ applicationProtocols: [String]) -> TLSServerSettings {
    TLSServerSettings(
      certificates: certificates.map {
        .init(certificateFile: $0.certificateFile, privateKeyFile: $0.privateKeyFile)
      },
      applicationProtocols: applicationProtocols,
      clients: clients.map { .init(authorityFile: $0.authorityFile, areRequired: $0.areRequired) })
  }

  /// Every file that a reload reads.
  fileprivate var files: [String] {
    certificates.flatMap { [$0.certificateFile, $0.privateKeyFile] } + ticketKeyFiles
      + (clients.map { [$0.authorityFile] } ?? [])
  }
}
