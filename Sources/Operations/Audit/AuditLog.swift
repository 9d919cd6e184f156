/// The destination of audit events: the log's output in the same format, or none.
package struct AuditLog: Sendable {
  private let output: LogSink
  private let format: LineFormat
  private let events: Set<AuditEvent.Name>

  /// Records the events that the settings name, in the format that they have for the output.
  package init(_ settings: LogSettings, output: LogSink = .standard) {
    self.output = output
    format = settings.format(for: output)
    events = settings.auditLog ? Set(settings.auditEvents ?? AuditEvent.Name.allCases) : []
  }

  /// Writes one event, unless the audit, or this event, is switched off. Returns at once.
  package func record(_ event: AuditEvent) {
    guard events.contains(event.action.name) else { return }
    var line = LogBuffer()
    event.append(to: &line, as: format)
    output.write(line)
  }
}
