package import FoundationEssentials

/// A verified notification from Apple about one user, for a store to apply (`NotificationStore.carryOut`).
package struct AccountNotification: Sendable, Equatable {
  /// `jti`: the same in every repetition.
  package let identifier: String
  /// The user.
  package let subject: Subject
  /// The time of the event, by Apple's clock.
  package let occurred: Date
  /// The change.
  package let change: Change
  /// The message for the application, kept until it is delivered (`NotificationStore.nextMessage`); nil where nothing
  /// is.
  package let message: String?

  /// A notification that was verified.
  package init(identifier: String, subject: Subject, occurred: Date, change: Change, message: String?) {
    self.identifier = identifier
    self.subject = subject
    self.occurred = occurred
    self.change = change
    self.message = message
  }

  /// The change of the user.
  package enum Change: Sendable, Equatable {
    /// The user revoked the consent: sessions end, refresh tokens are deleted, the account stays.
    case consentRevoked
    /// The Apple Account was deleted: all data of the user is deleted, but for memberships of these groups; see
    /// ``AccountStore/forget(_:keeping:at:)``.
    case accountDeleted(keeping: Set<GroupName>)
    /// Apple started or stopped forwarding mail to the address.
    case mailForwarding(isOn: Bool, email: String?, isPrivateEmail: Bool?)
    /// A type that this version does not know: nothing changes.
    case unknown
  }

  /// The lifetime of the replay guard. After it a repetition is recognized by its age: it ends nothing newer than
  /// itself.
  package static let remembered = Duration.seconds(30 * 86_400)

  /// The replay guard.
  package var replayGuard: ReplayGuard { .notification(identifier) }
}

/// The outcome of a notification.
package enum NotificationOutcome: Sendable, Equatable {
  /// It was applied; these sessions ended.
  case carriedOut(ended: [PublicSessionID])
  /// It had been handled before.
  case repeated
  /// The user authorized the application, or a later notification of the kind came, since it happened: nothing changes.
  case outdated
  /// Nobody is known under the subject.
  case unknownSubject
}

extension Account {
  /// Whether a notification is out of date. Mail forwarding is compared with what was notified of it last: a sign-in
  /// says nothing about it. Anything else is compared with the user's latest authorization. A deletion is never out of
  /// date: the subject does not come back.
  package func isNewer(than notification: AccountNotification) -> Bool {
    switch notification.change {
    case .accountDeleted: false
    case .mailForwarding:
      claims.mailForwarding.map { $0.since >= notification.occurred.millisecondsSince1970 } ?? false
    case .consentRevoked, .unknown: isAuthorized(since: notification)
    }
  }

  /// The claims after a notification about mail forwarding. Its address does not replace that of a later sign-in.
  package func afterForwarding(_ notification: AccountNotification) -> AccountClaims {
    guard case .mailForwarding(let isOn, let email, let isPrivateEmail) = notification.change else { return claims }
    let keepsAddress = isAuthorized(since: notification) && claims.email?.isEmpty == false
    return claims.afterForwarding(
      isOn: isOn, since: notification.occurred, email: keepsAddress ? nil : email, isPrivateEmail: isPrivateEmail)
  }

  /// Whether a notification is about a time before the user's latest authorization, or that very moment. By Apple's
  /// clock, as far as its time of the authorization is known.
  private func isAuthorized(since notification: AccountNotification) -> Bool {
    appleAuthorized ?? latestAuthorization >= notification.occurred
  }
}
