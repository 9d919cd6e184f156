internal import DataPlane

/// Has certificates and keys read again when one of their files changed, and the keys of session tickets renewed.
struct CertificateReloader: Sendable {
  private let reload: Reload

  /// The interval at which the files are checked: a call of `stat` for each.
  private static let interval = Duration.seconds(2)
  /// The time for which the keys of session tickets in memory make tickets. They accept them as long again, which is
  /// longer than a ticket lives.
  private static let ticketKeyInterval = Duration.seconds(12 * 3_600)

  init(_ reload: Reload) { self.reload = reload }

  /// Runs until cancelled.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await watch() }
      group.addTask {
        while (try? await Task.sleep(for: Self.ticketKeyInterval)) != nil { await reload.rotateTicketKeys() }
      }
    }
  }

  private func watch() async {
    var paths = reload.current.listener.certificateFiles
    var seen = CertificateFiles(paths)
    while (try? await Task.sleep(for: Self.interval)) != nil {
      let now = reload.current.listener.certificateFiles
      // Another configuration has read its own files.
      if now != paths { (paths, seen) = (now, CertificateFiles(now)) }
      let files = CertificateFiles(paths)
      guard files != seen else { continue }
      // A certificate and its key are two files that are written one shortly after the other. When it takes
      // longer, the first reading is refused, and the second follows the second file.
      seen = files
      await reload.rereadCertificates()
    }
  }
}
