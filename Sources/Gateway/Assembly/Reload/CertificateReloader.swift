/// Reloads certificates and keys when one of their files changed, and rotates the keys of session tickets.
struct CertificateReloader {
  let reload: Reload

  /// The rotation interval of session ticket keys in memory, in seconds. A key is accepted for another interval, which
  /// is longer than the lifetime of a ticket.
  private static let ticketKeyInterval = 12 * 3_600

  /// Looks at the files.
  ///
  /// A certificate and its key are two files, written shortly after each other. If a look falls in between, the
  /// mismatch is refused, and the next look sees the second file.
  func look() -> FileRounds.Reaction? {
    guard reload.current.certificatesAreOutdated else { return nil }
    return { [reload] in await reload.rereadCertificates() }
  }

  /// Schedules the rotation.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.addTask(every: Self.ticketKeyInterval, after: Self.ticketKeyInterval) { [reload] in
      await reload.rotateTicketKeys()
    }
  }
}
