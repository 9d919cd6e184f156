internal import Operations
internal import Sessions

/// Records sign-ins, sign-outs and refusals in the audit log, with users and sessions as keyed hashes.
struct AuditTrail: Sendable {
  private let log: AuditLog
  private let keyring: SessionKeyring

  init(_ settings: LogSettings, keyring: SessionKeyring, output: LogSink = .standard) {
    log = AuditLog(settings, output: output)
    self.keyring = keyring
  }

  /// Records that another account has the verified e-mail address of a sign-in.
  func recordSharedEmail(of subject: Subject, with other: Subject, requestID: String, clientID: String) {
    record(
      .emailShared(other: keyring.pseudonym(of: other)), subject: subject, requestID: requestID, clientID: clientID)
  }

  /// A manager, by the keyed hash that `by` has in the audit and in the store.
  func author(ofManager subject: Subject) -> AccessAuthor { .manager(subject, keyring) }

  func record(
    _ action: AuditEvent.Action, subject: Subject? = nil, session: PublicSessionID? = nil, peer: String? = nil,
    requestID: String? = nil, clientID: String? = nil, access: AuditEvent.AccessFields = AuditEvent.AccessFields()
  ) {
    log.record(
      AuditEvent(
        time: .now(), action: action, user: subject.map { keyring.pseudonym(of: $0) }, session: session?.text,
        peer: peer, requestID: requestID, clientID: clientID, access: access))
  }
}
