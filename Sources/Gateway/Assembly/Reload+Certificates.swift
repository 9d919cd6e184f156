internal import DataPlane
internal import Logging

/// Certificates and keys alone, without the configuration that names them.
extension Reload {
  /// Reads every certificate and key again. Each listener and upstream takes its new ones, or keeps the old ones and
  /// says why; no connection is dropped. Reloads of the configuration do this, too.
  func rereadCertificates() async {
    await afterOthers { await self.performCertificates() }
  }

  /// Makes new keys for session tickets where they are in memory.
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
    running.certificates.reloaded(failures)
    if failures.isEmpty { logger.notice("certificates and keys reloaded") }
  }
}
