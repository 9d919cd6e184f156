internal import WebFormats

/// A part of the list of a user's sessions, newest first.
package struct SessionPage: Sendable, Equatable {
  /// The sessions.
  package let sessions: [Listed<Session>]
  /// The place to go on after; nil at the end.
  package let next: SessionPlace?

  /// A part of the list.
  package init(sessions: [Listed<Session>], next: SessionPlace?) {
    self.sessions = sessions
    self.next = next
  }
}

/// The place of a session in the list of a user's sessions. It stays valid when the session ends.
package struct SessionPlace: Sendable, Equatable {
  /// The beginning of the session, in milliseconds since 1970.
  package let began: Int64
  /// The public ID as the store has it.
  package let handle: [UInt8]

  /// The place before the first session.
  package static let start = SessionPlace(began: .max, handle: [])

  /// The place of a session.
  package init(began: Int64, handle: [UInt8]) {
    self.began = began
    self.handle = handle
  }

  /// From what `text` gave for the place of a session; nil for anything else.
  package init?(text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 2, let began = DecimalDigits.parse(parts[0], limit: .max),
      let handle = Base64URL.decode(Array(parts[1])), !handle.isEmpty
    else { return nil }
    self.init(began: Int64(began), handle: handle)
  }

  /// Letters, digits, `-`, `_` and `.`.
  package var text: String { "\(began).\(Base64URL.text(handle))" }
}

extension SessionPage {
  /// From rows of a session's columns, of which this many were asked for at most.
  /// - Throws: ``DamagedRowError``.
  package init(stored rows: [some StoredRow], limit: Int) throws {
    var next: SessionPlace?
    if rows.count >= limit, let last = rows.last {
      next = SessionPlace(began: try last.integer(3), handle: try last.bytes(0))
    }
    self.init(sessions: try rows.map { try Session.listed($0) }, next: next)
  }
}
