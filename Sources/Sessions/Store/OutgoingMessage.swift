package import FoundationEssentials

/// Something to be told to the application, kept until it has been.
///
/// Whoever takes one (`NotificationStore.nextMessage`) has it until the lease is over; then, should the process have
/// ended meanwhile, somebody else gets it. It may so be delivered twice, and is never lost.
package struct OutgoingMessage: Sendable, Equatable {
  /// The `jti` of the notification.
  package let identifier: String
  /// The message itself.
  package let text: String
  /// The time when it was queued.
  package let queued: Date
  /// The number of attempts, with this one.
  package let attempts: Int

  /// A message as a store keeps it.
  package init(identifier: String, text: String, queued: Date, attempts: Int) {
    self.identifier = identifier
    self.text = text
    self.queued = queued
    self.attempts = attempts
  }
}
