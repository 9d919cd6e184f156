import Operations

/// The table about logs.
extension ConfigurationSchema {
  static let log = Section<ConfigurationBuilder>(
    name: "log",
    introduction: "Logs on standard output. No line contains a secret, a cookie, a code or a query.",
    entries: [
      .withDefault(
        "log.access", .boolean, into: \.configuration.log.accessLog,
        "Whether there is an access log, with a line for each request.",
        seeAlso: ["log.access_fields"]),
      .optional(
        "log.access_fields", ValueType.choice.list().named("list of fields"),
        into: \.configuration.log.accessFields,
        example: "[\"request\", \"method\", \"path\", \"status\", \"duration\", \"user_agent\"]",
        """
        The fields of an access log line, in this order, after its time. Available are: \
        \(AccessLogField.allCases.map(\.rawValue).joined(separator: ", ")). "duration" is the total time, "upstream" \
        the time until the application's response began, "gateway" the rest; "user" is a keyed hash, "trace" the trace \
        of the request's traceparent. Queries are never logged.
        """,
        omission: "\(AccessLogField.standard.map(\.rawValue).joined(separator: ", ")).", seeAlso: ["log.access"]),
      .withDefault(
        "log.audit", .boolean, into: \.configuration.log.auditLog,
        """
        Whether there is an audit log, with a line for each sign-in and failure, sign-out, revalidation, revocation, \
        notification of Apple and admin operation.
        """, seeAlso: ["log.audit_events"]),
      .optional(
        "log.audit_events", ValueType.choice.list().named("list of events"), into: \.configuration.log.auditEvents,
        example: "[\"sign_in\", \"sign_in_failed\", \"administration\"]",
        """
        The events in the audit log. Available are: \
        \(AuditEvent.Name.allCases.map(\.rawValue).joined(separator: ", ")).
        """,
        omission: "All of them.", seeAlso: ["log.audit"]),
      .withDefault(
        "log.level", .choice.named("severity"), into: \.configuration.log.level,
        """
        The minimum severity in the application log: \
        \(LogSettings.Level.allCases.map(\.rawValue).joined(separator: ", ")), which disables it. Errors that prevent \
        the start are always written to standard error.
        """),
      .withDefault(
        "log.format", .choice, into: \.configuration.log.format,
        """
        The format of log lines: "json", "text", or "auto", which is text on a terminal and JSON elsewhere. "combined" \
        writes access log lines in the Combined Log Format of Apache and nginx, without queries, with a keyed hash as \
        the user; other lines are as with "auto".
        """, seeAlso: ["log.access", "log.access_fields"]),
    ])
}
