internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Sessions

/// `POST notifications`: Apple's server-to-server notifications. Anybody can send requests to it, so only Apple's
/// signature is trusted.
///
/// Apple repeats a notification that is not answered 200. It is answered 200 once the store has recorded its effect,
/// now or before; 503 if the store or Apple's keys are unavailable, or our clock is behind; 400 for everything that
/// Apple did not sign.
final class NotificationEndpoint: Sendable {
  private let verifier: NotificationVerifier
  private let sessions: SessionManager
  /// Receives the proof that our clock is behind.
  private let appleMonitor: AppleMonitor
  private let relay: NotificationRelay
  /// The groups of all deny lists.
  private let denyGroups: Set<GroupName>
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let audit: AuditTrail
  /// Limits the log lines about refused requests.
  private let refusals = LogLimit()

  /// The largest body that the verifier reads, in bytes.
  static let bodyLimit = 32 * 1024

  init(
    verifier: NotificationVerifier, sessions: SessionManager, appleMonitor: AppleMonitor, relay: NotificationRelay,
    denyGroups: Set<GroupName>, metrics: MetricsRegistry, audit: AuditTrail, logger: Logger
  ) {
    self.verifier = verifier
    self.sessions = sessions
    self.appleMonitor = appleMonitor
    self.relay = relay
    self.denyGroups = denyGroups
    self.metrics = metrics
    self.logger = logger
    self.audit = audit
  }

  @Sendable
  func answer(_ request: ControlRequest) async -> ControlResponse {
    let notification: AppleNotification
    do throws(IdentityTokenError) {
      notification = try await verifier.verify(request.body)
    } catch {
      return refused(error, request)
    }
    guard let subject = Subject(notification.subject) else { return Self.status(.badRequest) }
    do throws(StoreError) {
      let outcome = try await sessions.carryOut(
        AccountNotification(
          identifier: notification.identifier, subject: subject, occurred: notification.eventTime,
          change: .init(notification, keeping: denyGroups),
          message: relay.isOn ? RelayedNotification(notification).text : nil))
      record(outcome, of: notification, subject, request)
      relay.wake()
      return Self.status(.ok)
    } catch {
      metrics.notifications.count(notification.kind.label, "store_unavailable")
      return Self.status(.serviceUnavailable)
    }
  }

  private func record(
    _ outcome: NotificationOutcome, of notification: AppleNotification, _ subject: Subject, _ request: ControlRequest
  ) {
    metrics.notifications.count(notification.kind.label, outcome.label)
    audit.record(
      .notification(type: notification.kind.name, effect: outcome.label), subject: subject,
      peer: request.client.address, requestID: request.requestID, clientID: notification.audience)
    guard case .carriedOut(let ended) = outcome else { return }
    let reason = notification.kind == .accountDeleted ? SessionEnding.accountRemoved : .consentRevoked
    metrics.countEnd(of: ended, because: reason)
    audit.recordEnd(of: ended, because: reason, subject: subject, requestID: request.requestID)
  }

  private func refused(_ rejection: IdentityTokenError, _ request: ControlRequest) -> ControlResponse {
    metrics.notifications.count("unverified", rejection.notificationLabel)
    // Verified but for its time: signed by Apple, for us.
    let isClockBehind = rejection == .issuedInFuture
    if isClockBehind { appleMonitor.noteNotificationFromFuture() }
    // By reason: forged notifications must not hide why one of Apple's is rejected.
    if let suppressed = refusals.admit(rejection.logKey) {
      var metadata: Logger.Metadata = [
        "reason": "\(rejection.message)", "peer": "\(request.client.address)", "request": "\(request.requestID)",
      ]
      if suppressed > 0 { metadata["suppressed"] = "\(suppressed)" }
      logger.warning("notification rejected (logged at most once a minute)", metadata: metadata)
    }
    // Apple sends it again, by then perhaps to a clock that was set.
    return Self.status(rejection.isAppleTrouble || isClockBehind ? .serviceUnavailable : .badRequest)
  }

  private static func status(_ status: HTTPResponse.Status) -> ControlResponse {
    ControlResponse(status, fields: [.cacheControl: "no-store"])
  }
}

extension AccountNotification.Change {
  /// - Parameter denyGroups: the groups whose members stay members when their accounts are deleted.
  fileprivate init(_ notification: AppleNotification, keeping denyGroups: Set<GroupName>) {
    self =
      switch notification.kind {
      case .consentRevoked: .consentRevoked
      case .accountDeleted: .accountDeleted(keeping: denyGroups)
      case .emailEnabled, .emailDisabled:
        .mailForwarding(
          isOn: notification.kind == .emailEnabled, email: notification.email,
          isPrivateEmail: notification.isPrivateEmail)
      case .other: .unknown
      }
  }
}

extension IdentityTokenError {
  /// The outcome of an unverified notification in metrics.
  fileprivate var notificationLabel: String {
    switch self {
    case .keysUnavailable: "keys_unavailable"
    case .issuedInFuture: "clock_behind"
    default: "refused"
    }
  }
}

extension AppleNotification.Kind {
  /// The name in metrics: one of a closed set.
  fileprivate var label: String {
    if case .other = self { "other" } else { name }
  }
}

extension NotificationOutcome {
  /// The name in metrics and in the audit.
  fileprivate var label: String {
    switch self {
    case .carriedOut: "carried_out"
    case .repeated: "repeated"
    case .outdated: "outdated"
    case .unknownSubject: "unknown_user"
    }
  }
}
