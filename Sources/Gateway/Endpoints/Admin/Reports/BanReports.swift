internal import FoundationEssentials
internal import Sessions

/// `PUT /accounts/SUB/ban`.
package struct BannedReport: Codable, Sendable, Equatable {
  /// Apple's `sub`.
  package let subject: String
  /// The ban that is in force now.
  package let ban: BanReport
  /// Sessions that ended.
  package let ended: Int

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case ban, ended
  }
}

/// `DELETE /accounts/SUB/ban`.
package struct UnbannedReport: Codable, Sendable, Equatable {
  /// Apple's `sub`.
  package let subject: String

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
  }
}

/// A ban in force. Times are RFC 3339, in UTC, as in all reports.
package struct BanReport: Codable, Sendable, Equatable {
  /// The moment at which it ends by itself; nil: never.
  package let until: String?
  /// The note that was given when it was made; nil without one.
  package let reason: String?
  /// The moment at which it was made.
  package let since: String
  /// The operator or manager.
  package let by: String

  init(_ ban: Ban) {
    until = ban.until?.rfc3339
    reason = ban.reason
    since = ban.since.rfc3339
    by = ban.by.text
  }
}
