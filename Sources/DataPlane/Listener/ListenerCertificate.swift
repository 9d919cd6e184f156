internal import TLSTransport

/// What there is to know of a listener's certificate without a connection.
package struct ListenerCertificate: Sendable {
  private let context: TLSServerContext

  /// Reads certificate and key as a listener does when it starts.
  /// - Throws: `TLSConfigurationError`, whose description ends with the remedy.
  package init(_ files: TLSFiles) throws {
    context = try TLSServerContext(
      certificateFile: files.certificateFile, privateKeyFile: files.privateKeyFile, applicationProtocols: ["http/1.1"])
  }

  init(_ context: TLSServerContext) { self.context = context }

  /// When it expires, in seconds since 1970.
  package var expiry: Int64 { context.certificateExpiry }

  /// What the operator should be told about its dates, with what to do; nil when there is nothing to tell. From 14 days
  /// before the expiry on.
  /// - Parameter now: in seconds since 1970.
  package func warning(at now: Int64) -> String? { context.certificateWarning(at: now)?.message }

  /// Whether browsers refuse it.
  /// - Parameter now: in seconds since 1970.
  package func isRefused(at now: Int64) -> Bool {
    switch context.certificateWarning(at: now) {
    case .expired, .notYetValid: true
    case .expiresSoon, nil: false
    }
  }
}
