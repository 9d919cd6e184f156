internal import TLSTransport

/// The certificates of a listener, as read from their files.
package struct ListenerCertificate: Sendable {
  /// The acceptor's name.
  package let acceptor: String
  private let tls: AcceptorTLS
  private var context: TLSServerContext { tls.context }

  /// Reads certificates and keys as a listener does when it starts; nil for an acceptor in cleartext.
  /// - Throws: `TLSConfigurationError`, whose description ends with the remedy.
  package init?(_ settings: AcceptorSettings) throws {
    guard let tls = settings.tls else { return nil }
    acceptor = settings.name
    self.tls = try AcceptorTLS(tls, applicationProtocols: [])
  }

  /// Whether an error of ``init(_:)`` may pass while the files stay as they are.
  package static func isTransient(_ error: any Error) -> Bool {
    (error as? TLSConfigurationError)?.isTransient ?? false
  }

  /// Whether an error of ``init(_:)`` is a key that does not belong to its certificate, as while both are replaced.
  package static func isMismatch(_ error: any Error) -> Bool {
    if case .keyMismatch? = error as? TLSConfigurationError { true } else { false }
  }

  init(_ acceptor: String, _ tls: AcceptorTLS) {
    self.acceptor = acceptor
    self.tls = tls
  }

  /// Whether one of the certificates lists a host name, itself or by a wildcard; a client that asks for another name
  /// gets one that does not fit it.
  package func lists(_ host: String) -> Bool { context.lists(host) }

  /// When the first of them expires, in seconds since 1970.
  package var expiry: Int64 { context.certificateExpiry }

  /// When each expires, in seconds since 1970, with its file.
  package var expiries: [(file: String, expiry: Int64)] { context.expiries }

  /// A warning for the operator about their dates; nil when there is nothing to report. From 14 days before the expiry
  /// on.
  /// - Parameter now: in seconds since 1970.
  package func warning(at now: Int64) -> (problem: String, remedy: String)? {
    context.certificateWarning(at: now).map { ($0.problem, $0.remedy) }
  }

  /// The files of those that no browser can use because of the kind of their key (Ed25519, Ed448).
  package var filesForNoBrowser: [String] { context.filesForNoBrowser }

  /// The names of those authorities for clients that have also issued a certificate of these chains.
  package var sharedAuthorities: [String] { context.sharedAuthorities }

  /// The files whose chain is incomplete for clients, each with the missing issuer. Reads the roots of this system.
  /// - Throws: `TLSConfigurationError`, whose description ends with the remedy.
  package func missingIssuers() throws -> [(file: String, issuer: String)] { try context.missingIssuers() }

  /// Whether browsers refuse one of them.
  /// - Parameter now: in seconds since 1970.
  package func isRefused(at now: Int64) -> Bool { context.certificateWarning(at: now)?.isRefusal ?? false }
}
