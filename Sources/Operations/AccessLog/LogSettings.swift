/// Log settings (`[log]` of the configuration).
package struct LogSettings: Sendable, Equatable {
  /// Whether each request is logged. Default: false.
  package var accessLog = false
  /// The fields of access log lines. Default: nil: ``AccessLogField/standard``.
  package var accessFields: [AccessLogField]?
  /// Whether audit events (sign-in, sign-out, revalidation, administration and others) are logged. Default: true.
  package var auditLog = true
  /// The events that are logged. Default: nil: every one.
  package var auditEvents: [AuditEvent.Name]?
  /// Least severity of application events. Default: info.
  package var level: Level = .info
  /// The format of lines. Default: text on a terminal, JSON elsewhere.
  package var format: Format = .automatic

  /// The defaults.
  package init() {}

  /// Severities of swift-log, and `off` for no events.
  package enum Level: String, Sendable, CaseIterable {
    /// Events of this severity, and more severe ones.
    case trace, debug, info, notice, warning, error, critical
    /// No events.
    case off
  }

  /// The format of lines.
  package enum Format: String, Sendable, CaseIterable {
    /// Text on a terminal, JSON elsewhere.
    case automatic = "auto"
    /// The same for every output.
    case json, text
    /// The access log in the Combined Log Format, all other lines as `automatic`.
    case combined
  }
}
