internal import Logging
internal import Sessions
internal import Synchronization

/// Logs headers that are left out because a claim cannot be sent: each header and reason once for a configuration.
final class HeaderOmissions: Sendable {
  private let logger: Logger?
  private let noted = Mutex<Set<String>>([])

  /// - Parameter logger: nil logs nothing.
  init(_ logger: Logger?) { self.logger = logger }

  /// - Parameter upstream: the name of the upstream that the header is for; nil for all.
  func note(_ header: String, of upstream: String?, _ omission: HeaderOmissionError) {
    guard let logger, noted.withLock({ $0.insert("\(upstream ?? "") \(header) \(omission.reason)").inserted }) else {
      return
    }
    var metadata: Logger.Metadata = ["header": "\(header)", "reason": "\(omission.reason)"]
    if let upstream { metadata["upstream"] = "\(upstream)" }
    logger.warning("header left out of requests to the application", metadata: metadata)
  }
}
