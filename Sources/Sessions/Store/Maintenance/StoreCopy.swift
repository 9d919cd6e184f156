internal import Cryptography
internal import WebFormats

/// The tables of a store that are copied, in an order in which each refers to earlier ones only. The change feed is not
/// copied: it is for running gateways.
///
/// The raw values are shown while a copy runs, and hashed in ``CopiedContent``: they do not change.
package enum StoreTable: String, Sendable, CaseIterable {
  /// Users who have signed in.
  case accounts
  /// Pending display names of sign-ins that were not completed.
  case submittedNames = "submitted names"
  /// Encrypted, one for each account and client.
  case refreshTokens = "refresh tokens"
  /// Browsers and apps.
  case sessions
  /// Replay guards that were consumed. Their table is named `single_use_marks`.
  case replayGuards = "used-up marks"
  /// Messages for the application.
  case messages
  /// Bans of users.
  case bans
  /// Users in groups.
  case groupMembers = "group members"
  /// Requests for access.
  case accessRequests = "requests for access"
  /// Invitations to groups.
  case invitations
  /// Users that invitations have admitted.
  case invitationUses = "used invitations"
  /// Tokens of machines.
  case machineTokens = "machine tokens"
  /// Transfer identifiers of users.
  case preparedTransfers = "prepared transfers"

  /// The columns in which rows are carried, by their names in SQLite; the first are the key.
  package var columns: [String] {
    switch self {
    case .accounts:
      [
        "subject", "name", "email", "claims", "latest_authorization", "last_verified", "last_asked", "last_answer",
        "claim_number", "check_failing_since", "apple_authorized", "token_discarded",
      ]
    case .submittedNames: ["subject", "name", "submitted"]
    case .refreshTokens: ["subject", "client_id", "sealed", "key", "version"]
    case .sessions: ["handle", "subject", "client_id", "began", "ends", "last_seen", "user_agent"]
    case .replayGuards: ["mark", "until"]
    case .messages: ["identifier", "text", "queued", "due", "attempts"]
    case .bans: ["hash", "subject", "until", "reason", "since", "made_by"]
    case .groupMembers: ["group_name", "subject", "added", "added_by"]
    case .accessRequests: ["code", "subject", "asked"]
    case .invitations:
      ["id", "hash", "group_name", "uses", "used", "expires", "closes", "note", "created", "created_by"]
    case .invitationUses: ["invitation", "subject", "used"]
    case .machineTokens: ["name", "handle", "group_name", "created", "expires", "created_by"]
    case .preparedTransfers: ["transfer", "hash", "subject", "team", "prepared", "moved"]
    }
  }

  /// The number of columns of the key.
  package var keyCount: Int {
    switch self {
    case .refreshTokens, .groupMembers, .invitationUses: 2
    case .accounts, .submittedNames, .sessions, .replayGuards, .messages, .bans, .accessRequests, .invitations,
      .machineTokens, .preparedTransfers:
      1
    }
  }
}

/// One column of a row that is carried from store to store.
package enum StoredValue: Sendable, Equatable {
  /// No value.
  case null
  /// A number, or a time.
  case integer(Int64)
  /// A text.
  case text(String)
  /// Bytes.
  case bytes([UInt8])
}

/// A store that can be copied from.
package protocol StoreCopySource: SessionStore {
  /// Rows in the order of their keys, from after this key; from the beginning where it is empty.
  func rows(
    of table: StoreTable, after key: [StoredValue], limit: Int
  ) async throws(StoreError) -> [[StoredValue]]

  /// The number of rows of a table.
  func rowCount(of table: StoreTable) async throws(StoreError) -> Int

  /// - Throws: `StoreError.Code.newerSchema` if the store may hold data that this version does not know and cannot
  ///   copy.
  func requireKnownSchema() async throws(StoreError)
}

/// A store that can be copied to.
package protocol StoreCopyTarget: SessionStore {
  /// Begins a copy, or resumes one of the same content of the same source.
  /// - Throws: `StoreError.Code.conflict` if the store holds anything else, or a gateway is using it.
  func beginCopy(of source: CopiedContent) async throws(StoreError) -> CopyProgress

  /// Replaces the store's own key by that of the source, under which bans and machine tokens are kept.
  func adopt(_ key: StoreKey) async throws(StoreError)

  /// The key of the last row that was copied; empty if there is none.
  func lastKey(of table: StoreTable) async throws(StoreError) -> [StoredValue]

  /// Adds rows. Rows that exist already are left as they are.
  func add(_ rows: [[StoredValue]], to table: StoreTable) async throws(StoreError)

  /// The number of rows of a table.
  func rowCount(of table: StoreTable) async throws(StoreError) -> Int

  /// Marks the copy as complete.
  func finishCopy() async throws(StoreError)
}

/// The content of a store that is copied, by which a later copy is recognized as one of the same.
///
/// The cursor of the change feed alone does not tell: invitations, requests for access and last uses, for instance, do
/// not move it.
package struct CopiedContent: Sendable, Equatable {
  /// The cursor of the store, which names the store as well, and a hash of all rows.
  package let text: String

  /// Reads all rows. Blocks nobody, but takes as long as copying them.
  package static func read(_ source: any StoreCopySource) async throws(StoreError) -> CopiedContent {
    let cursor = try await source.changes(since: nil, limit: 1).cursor
    var hash: [UInt8] = []
    for table in StoreTable.allCases {
      var key: [StoredValue] = []
      while true {
        let rows = try await source.rows(of: table, after: key, limit: StoreCopy.batch)
        // A chain: each hash covers the one before, and the tables between which there is nothing to read.
        var bytes = hash + table.rawValue.utf8
        for value in rows.joined() { value.append(to: &bytes) }
        hash = SHA256.hash(bytes)
        guard let last = rows.last else { break }
        key = Array(last.prefix(table.keyCount))
      }
    }
    return CopiedContent(text: "\(cursor.text) \(Hex.text(hash))")
  }
}

extension StoredValue {
  /// Appends the value, so that no two lists of values are the same bytes.
  fileprivate func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    case .text(let text): append(2, Array(text.utf8), to: &bytes)
    case .bytes(let content): append(3, content, to: &bytes)
    }
  }

  private func append(_ kind: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(kind)
    withUnsafeBytes(of: Int64(content.count).littleEndian) { bytes += $0 }
    bytes += content
  }
}

/// The progress of a copy.
package enum CopyProgress: Sendable, Equatable {
  /// The target was empty.
  case begun
  /// An interrupted copy is resumed.
  case resumed
  /// An earlier copy was complete: there is nothing to do.
  case finished
}

/// Copies one store to another (`cordon store copy`). An interrupted copy is resumed; no gateway may use either
/// store meanwhile.
package enum StoreCopy {
  /// Rows in one transaction.
  static let batch = 500

  /// - Parameter report: called for each table after each batch, with the rows copied and the rows in all.
  /// - Returns: whether anything was to be done.
  /// - Throws: `StoreError.Code.conflict` if the target holds something else, or the source changed meanwhile.
  package static func run(
    from source: any StoreCopySource, to target: any StoreCopyTarget,
    report: (StoreTable, Int, Int) -> Void = { _, _, _ in }
  ) async throws(StoreError) -> Bool {
    try await source.requireKnownSchema()
    let content = try await CopiedContent.read(source)
    if try await target.beginCopy(of: content) == .finished { return false }
    try await target.adopt(source.storeKey())
    for table in StoreTable.allCases {
      let total = try await source.rowCount(of: table)
      var copied = try await target.rowCount(of: table)
      var key = try await target.lastKey(of: table)
      while true {
        let rows = try await source.rows(of: table, after: key, limit: batch)
        guard let last = rows.last else { break }
        try await target.add(rows, to: table)
        copied += rows.count
        key = Array(last.prefix(table.keyCount))
        report(table, copied, total)
      }
    }
    try await requireSameness(source, target, content)
    try await target.finishCopy()
    return true
  }

  private static func requireSameness(
    _ source: any StoreCopySource, _ target: any StoreCopyTarget, _ content: CopiedContent
  ) async throws(StoreError) {
    var isSame = try await CopiedContent.read(source) == content
    for table in StoreTable.allCases where isSame {
      isSame = try await source.rowCount(of: table) == target.rowCount(of: table)
    }
    guard isSame else {
      throw StoreError(
        code: .conflict,
        message:
          "the store changed while it was copied: stop the gateways, empty the target (DROP SCHEMA cordon CASCADE) "
          + "and copy again")
    }
  }
}
