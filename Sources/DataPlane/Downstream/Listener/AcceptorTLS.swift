internal import Secrets
internal import Synchronization
internal import TLSTransport

/// The current certificates and keys of one listener. Used by reloads only, never by a connection: each new context is
/// passed to the event loops.
final class AcceptorTLS: Sendable {
  private let settings: AcceptorTLSSettings
  private let transport: TLSServerSettings
  private let state: Mutex<State>

  private struct State {
    var context: TLSServerContext
    var keys: TLSTicketKeys
    /// The attributes of the files just before they were last read.
    var seen: FileAttributes
    /// Whether reading failed, and may succeed later although nothing of the files changes.
    var isUnread = false
  }

  /// - Parameters:
  ///   - applicationProtocols: what ALPN may agree on, the preferred one first.
  ///   - previous: the current one, whose in-memory ticket keys are kept.
  /// - Throws: `TLSConfigurationError`.
  init(
    _ settings: AcceptorTLSSettings, applicationProtocols: [String], after previous: AcceptorTLS? = nil
  ) throws(TLSConfigurationError) {
    self.settings = settings
    transport = settings.transport(applicationProtocols)
    let seen = FileAttributes(settings.files)
    let keys = try Self.keys(settings, before: previous?.keysInMemory)
    state = Mutex(State(context: try TLSServerContext(transport, ticketKeys: keys), keys: keys, seen: seen))
  }

  /// The context for new connections.
  var context: TLSServerContext { state.withLock { $0.context } }

  private var keysInMemory: TLSTicketKeys? {
    settings.ticketKeyFiles.isEmpty ? state.withLock { $0.keys } : nil
  }

  /// Whether a file has changed since it was last read, with or without success, or could not be read at that moment.
  var isOutdated: Bool {
    let (seen, isUnread) = state.withLock { ($0.seen, $0.isUnread) }
    return isUnread || seen != FileAttributes(settings.files)
  }

  /// Reads every file again.
  /// - Throws: `TLSConfigurationError`; then the context and the ticket keys stay as they were.
  func reload() throws(TLSConfigurationError) {
    let seen = FileAttributes(settings.files)
    let before = state.withLock { state in
      state.seen = seen
      return state.keys
    }
    do throws(TLSConfigurationError) {
      let keys = try Self.keys(settings, before: before)
      let context = try TLSServerContext(transport, ticketKeys: keys)
      replace(context, keys)
      state.withLock { $0.isUnread = false }
    } catch {
      state.withLock { $0.isUnread = error.isTransient }
      throw error
    }
  }

  /// Replaces ticket keys held in memory. Those in files are rotated by the operator.
  func rotateTicketKeys() throws(TLSConfigurationError) {
    guard settings.ticketKeyFiles.isEmpty else { return }
    let old = state.withLock { $0 }
    let keys = try old.keys.rotated()
    let context = try old.context.with(keys)
    replace(context, keys)
  }

  private func replace(_ context: TLSServerContext, _ keys: TLSTicketKeys) {
    state.withLock { state in
      state.context = context
      state.keys = keys
    }
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
  /// As TLSTransport has them.
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
