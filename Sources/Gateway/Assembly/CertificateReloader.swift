internal import Threads

/// Reloads certificates and keys when one of their files changed, and rotates the keys of session tickets.
struct CertificateReloader {
  let reload: Reload

  /// The interval at which the files are checked, in seconds: a call of `stat` for each, on the thread for files.
  private static let interval = 2
  /// The rotation interval of session ticket keys in memory, in seconds. A key is accepted for another interval, which
  /// is longer than the lifetime of a ticket.
  private static let ticketKeyInterval = 12 * 3_600

  /// Schedules both tasks.
  ///
  /// A certificate and its key are two files, written shortly after each other. If a check falls in between, the
  /// mismatch is refused, and the next check sees the second file.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.addTask(every: Self.interval, after: Self.interval) { [reload] in
      let areOutdated = await reload.files.run { reload.current.certificatesAreOutdated }
      if areOutdated { await reload.rereadCertificates() }
    }
    tasks.addTask(every: Self.ticketKeyInterval, after: Self.ticketKeyInterval) { [reload] in
      await reload.rotateTicketKeys()
    }
  }
}
