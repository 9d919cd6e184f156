/// The format of a log line.
package enum LineFormat: Sendable, Hashable {
  /// One JSON object (RFC 8259).
  case json
  /// `TIME what key=value key="value with spaces"`, for people.
  case text
}
