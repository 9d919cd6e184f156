package import FoundationEssentials

/// A message for the application, kept until it is delivered.
///
/// A process leases it (`NotificationStore.nextMessage`). If the process ends before the delivery, another one gets the
/// message after the lease: it may be delivered twice, and is never lost.
package struct OutgoingMessage: Sendable, Equatable {
  /// The `jti` of the notification.
  package let identifier: String
  /// The message itself.
  package let text: String
  /// The time when it was queued.
  package let queued: Date
  /// The number of attempts, with this one.
  package let attempts: Int

  /// The time for which a message that is damaged is set aside. It is kept: somebody may repair it.
  package static let damagedPause = Duration.seconds(86_400)

  /// A message as a store keeps it.
  package init(identifier: String, text: String, queued: Date, attempts: Int) {
    self.identifier = identifier
    self.text = text
    self.queued = queued
    self.attempts = attempts
  }
}
