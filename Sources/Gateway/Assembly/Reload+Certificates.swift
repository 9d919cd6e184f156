internal import DataPlane
internal import Logging

/// Reloading of certificates and keys only, without the configuration.
extension Reload {
  /// Reads every certificate and key again. Each listener and upstream uses the new ones, or keeps the old ones and
  /// reports the reason; no connection is closed. Reloads of the configuration include this.
  func rereadCertificates() async {
    await afterOthers { await self.performCertificates() }
  }

  /// Rotates the keys of session tickets that are in memory.
  func rotateTicketKeys() async {
    await afterOthers {
      do {
        try self.current.listener.rotateTicketKeys()
        await self.running.listener.adoptCertificates(of: self.current.listener)
      } catch {
        self.logger.error("TLS ticket key rotation failed", metadata: ["reason": "\(error)"])
      }
    }
  }

  private func performCertificates() async {
    let configuration = current.listener
    let failures = configuration.reloadCertificates()
    await running.listener.adoptCertificates(of: configuration)
    running.certificates.noteReload(failures)
    if failures.isEmpty { logger.notice("certificates and keys reloaded") }
  }
}
