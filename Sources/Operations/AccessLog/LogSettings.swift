/// What is logged, and how (`[log]` of the configuration).
public struct LogSettings: Sendable, Equatable {
  /// One line a request. Default: false.
  public var accessLog = false
  /// What each of these lines has. Default: nil: ``AccessLogField/standard``.
  public var accessFields: [AccessLogField]?
  /// A line for each sign-in, sign-out, check, act of administration and the like. Default: true.
  public var auditLog = true
  /// Which events these lines are about. Default: nil: every one.
  public var auditEvents: [AuditEvent.Name]?
  /// Least severity of application events. Default: info.
  public var level: Level = .info
  /// How lines look. Default: text on a terminal, JSON elsewhere.
  public var format: Format = .automatic

  public init() {}

  /// Severities, as swift-log names them; and no event at all.
  public enum Level: String, Sendable, CaseIterable { case trace, debug, info, notice, warning, error, critical, off }

  /// How lines look.
  public enum Format: String, Sendable, CaseIterable {
    case automatic = "auto"
    case json, text
  }
}
