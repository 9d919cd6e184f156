internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Synchronization

/// Tells in time that the listener's certificate expires: in the log, once for each thing to say, and by `/healthz`,
/// where it informs. Nothing is refused for it.
final class CertificateWatch: Sendable {
  private let certificate: Mutex<ListenerCertificate>
  private let health: HealthMonitor
  private let logger: Logger
  private let told = Mutex<String?>(nil)

  init(_ certificate: ListenerCertificate, health: HealthMonitor, logger: Logger) {
    self.certificate = Mutex(certificate)
    self.health = health
    self.logger = logger
    look()
  }

  /// Looks at another from now on.
  func adopt(_ certificate: ListenerCertificate) {
    self.certificate.withLock { $0 = certificate }
    look()
  }

  /// Looks at the dates as they are now.
  func look() {
    let certificate = certificate.withLock { $0 }
    let warning = certificate.warning(at: WallClock.now() / 1_000)
    health.update("certificate", warning == nil ? .ok : .failing, message: warning, at: .now())
    let isNew = told.withLock { told in
      defer { told = warning }
      return told != warning
    }
    guard isNew, let warning else { return }
    let expiry = Date(timeIntervalSince1970: Double(certificate.expiry)).ISO8601Format()
    logger.warning("the listener's certificate", metadata: ["problem": "\(warning)", "expires": "\(expiry)"])
  }
}
