/// An entry of a list: a record, or the note that there is one which is damaged. It must neither keep the others from
/// being listed nor be left out silently.
package enum Listed<Record: Sendable>: Sendable {
  /// A record that can be read.
  case readable(Record)
  /// A record that cannot be read.
  case damaged(DamagedRecord)

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - name: reads the name of the record.
  ///   - read: reads the record.
  /// - Throws: the error of `read`, unless the record alone is damaged.
  package init(name: @autoclosure () throws -> String, _ read: () throws -> Record) throws {
    do {
      self = .readable(try read())
    } catch let error as DamagedRowError where !error.isOfStore {
      self = .damaged(DamagedRecord(name: try? name(), what: error.what))
    }
  }

  /// The record; nil if it is damaged.
  package var record: Record? {
    if case .readable(let record) = self { return record }
    return nil
  }

  /// The damaged record; nil if it can be read.
  package var damage: DamagedRecord? {
    if case .damaged(let damage) = self { return damage }
    return nil
  }
}

extension Listed: Equatable where Record: Equatable {}

/// A record that this version cannot have written.
package struct DamagedRecord: Sendable, Equatable {
  /// Its name in the list: the subject, session ID, code, ID or name; nil if that cannot be read either.
  package let name: String?
  /// The part that cannot be read.
  package let what: String

  /// A record that was found damaged.
  package init(name: String?, what: String) {
    self.name = name
    self.what = what
  }

  /// The error for the log; it names no user.
  package var error: StoreError {
    StoreError(
      code: .damagedRow,
      message: "a list goes without a record that cordon did not write; if it is of one user, remove it with "
        + "`cordon accounts disconnect --force SUBJECT`, otherwise restore the store from a backup",
      cause: "unreadable \(what)")
  }
}

extension Sequence {
  /// The records of a list that can be read.
  package func records<Record: Sendable>() -> [Record] where Element == Listed<Record> { compactMap { $0.record } }

  /// The records of a list that are damaged.
  package func damagedRecords<Record: Sendable>() -> [DamagedRecord] where Element == Listed<Record> {
    compactMap { $0.damage }
  }
}

extension Listed<Account> {
  /// The user, of a damaged account as well; nil if the subject cannot be read.
  package var subject: Subject? { record?.subject ?? damage?.subject }
}

extension Listed<AccountSummary> {
  /// The user, of a damaged account as well; nil if the subject cannot be read.
  package var subject: Subject? { record?.account.subject ?? damage?.subject }
}

extension Listed<Session> {
  /// The public ID, of a damaged session as well; nil if it cannot be read.
  package var handle: PublicSessionID? { record?.handle ?? damage?.name.flatMap { PublicSessionID(text: $0) } }
}

extension DamagedRecord {
  /// The user whose record it is, in a list of accounts.
  fileprivate var subject: Subject? { name.flatMap { Subject($0) } }
}
