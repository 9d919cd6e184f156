/// The failure of a store operation. The message names no secret and ends with the remedy.
package struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// It cannot be reached or opened.
    case unavailable
    /// The connection broke before the answer: the operation may or may not have been carried out. The store may be
    /// available.
    case interrupted
    /// It is available but did not answer in time.
    case busy
    /// It may be read but not written.
    case readOnly
    /// No storage space is left.
    case full
    /// It is damaged, or not a store.
    case corrupt
    /// One record is damaged. Others can be used.
    case damagedRow
    /// Permission to open it was denied.
    case denied
    /// Its address cannot be used, whatever the state of the store.
    case misconfigured
    /// The folder it should be in does not exist.
    case missingDirectory
    /// It was written by a newer version.
    case newerSchema
    /// It is a copy of another store that was begun and not finished.
    case unfinishedCopy
    /// It has been closed.
    case closed
    /// The operation contradicts the stored data, such as beginning a session twice.
    case conflict
    /// A bug in this program.
    case internalError
  }

  /// The party that has to fix it.
  package enum Fault: String, Sendable {
    /// The operator's: configuration, permissions, keys.
    case `operator`
    /// The database's, or the network's.
    case store
    /// Ours: a bug in the program.
    case us
  }

  /// The kind of failure.
  package let code: Code
  /// The problem and the remedy.
  package let message: String
  /// The database's own message, for the log; no parameter of a statement, no secret.
  package let cause: String?
  /// Whether it was counted and logged: code that receives it only has to answer.
  package private(set) var isReported = false

  /// An error with its remedy in the message.
  package init(code: Code, message: String, cause: String? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// Whether a store at this location cannot be opened until an operator intervenes. All other errors are temporary: a
  /// server that is unreachable, starting or overloaded, a lock, a full disk.
  package func isFinal(at location: StoreSettings.Location) -> Bool {
    switch code {
    case .denied, .misconfigured, .missingDirectory, .newerSchema, .unfinishedCopy, .corrupt, .damagedRow, .closed,
      .conflict, .internalError:
      true
    // A server is read-only during a failover.
    case .readOnly: if case .sqlite = location { true } else { false }
    case .unavailable, .interrupted, .busy, .full: false
    }
  }

  /// The same error, marked as counted and logged.
  package var reported: StoreError {
    var error = self
    error.isReported = true
    return error
  }

  /// The party at fault.
  package var fault: Fault {
    switch code {
    case .readOnly, .full, .denied, .misconfigured, .missingDirectory, .newerSchema, .unfinishedCopy: .operator
    case .unavailable, .interrupted, .busy, .corrupt, .damagedRow: .store
    case .closed, .conflict, .internalError: .us
    }
  }

  package var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
