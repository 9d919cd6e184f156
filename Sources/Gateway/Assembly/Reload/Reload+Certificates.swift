internal import AppleIdentity
internal import DataPlane
internal import Logging
internal import Threads

/// Reloading of certificates and keys only, without the configuration.
extension Reload {
  /// Reads every certificate and key again. Each listener and upstream uses the new ones, or keeps the old ones and
  /// reports the reason; no connection is closed. Reloads of the configuration include this.
  func rereadCertificates() async {
    await afterOthers { await self.rereadCertificatesNow() }
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

  private func rereadCertificatesNow() async {
    let current = current
    let failures = await files.run { current.reloadCertificates() }
    guard !isStopping else { return }
    await running.listener.adoptCertificates(of: current.listener)
    running.certificates.noteReload(failures)
    if failures.isEmpty { logger.notice("certificates and keys reloaded") }
  }
}

extension ConfigurationSnapshot {
  /// The connections to Apple that verify it by a file of authorities.
  private var appleTargets: [UpstreamGroup] {
    guard settings.apple.authorityFile != nil else { return [] }
    return [keys.appleTarget] + (button.imageTarget.map { [$0] } ?? [])
  }

  /// Whether a file of a certificate or key has changed since it was last read, or could not be read at that moment.
  var certificatesAreOutdated: Bool {
    listener.certificatesAreOutdated || appleTargets.contains(where: \.certificatesAreOutdated)
  }

  /// Reads certificates and keys again: those of listeners and upstreams, and the authorities for Apple. Those whose
  /// new files are invalid keep the old ones.
  /// - Returns: what keeps them from it, with the remedy.
  func reloadCertificates() -> [CertificateReloadFailure] {
    var failures = listener.reloadCertificates()
    // They share the file.
    for target in appleTargets {
      if let failure = target.reloadCertificates(of: "apple"), failures.last != failure { failures.append(failure) }
    }
    return failures
  }
}
