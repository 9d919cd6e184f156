/// The failure of a store operation. The message names no secret and ends with the remedy.
package struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Code: String, Sendable, CaseIterable {
    /// It cannot be reached or opened.
    case unavailable
    /// The connection broke before the answer: the operation may or may not have been carried out. The store may be
    /// there.
    case interrupted
    /// It is there but did not get round to it in time.
    case busy
    /// It may be read but not written.
    case readOnly
    /// There is no room left.
    case full
    /// Its contents are damaged, or not those of a store.
    case corrupt
    /// We may not open it.
    case denied
    /// Its address cannot be used, whatever the state of the store.
    case misconfigured
    /// The folder it should be in does not exist.
    case missingDirectory
    /// It was written by a newer version.
    case newerSchema
    /// It has been closed.
    case closed
    /// It was asked for something that cannot be, such as beginning a session twice.
    case conflict
    /// A mistake in this program.
    case internalError
  }

  /// The party that has to fix it.
  package enum Fault: String, Sendable {
    /// The operator's: configuration, permissions, keys.
    case `operator`
    /// The database's, or that of the way there.
    case store
    /// Ours: a mistake in the program.
    case us
  }

  /// The kind of failure.
  package let code: Code
  /// The problem and the remedy.
  package let message: String
  /// The database's own message, for the log; no parameter of a statement, no secret.
  package let cause: String?

  /// An error with its remedy in the message.
  package init(code: Code, message: String, cause: String? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  /// Whether the same call may succeed in a while without anybody doing anything.
  package var isRetryable: Bool {
    switch code {
    case .unavailable, .interrupted, .busy, .full: true
    case .readOnly, .corrupt, .denied, .misconfigured, .missingDirectory, .newerSchema, .closed, .conflict,
      .internalError:
      false
    }
  }

  /// Whether a store at this location cannot be opened until somebody changes something. Everything else passes by
  /// itself: a server that is unreachable, starting or overloaded, a lock, a full disk.
  package func isFinal(at location: StoreSettings.Location) -> Bool {
    switch code {
    case .denied, .misconfigured, .missingDirectory, .newerSchema, .corrupt, .closed, .conflict, .internalError: true
    // A server is read-only while it takes the place of another.
    case .readOnly: if case .sqlite = location { true } else { false }
    case .unavailable, .interrupted, .busy, .full: false
    }
  }

  /// The party at fault.
  package var fault: Fault {
    switch code {
    case .readOnly, .full, .denied, .misconfigured, .missingDirectory, .newerSchema: .operator
    case .unavailable, .interrupted, .busy, .corrupt: .store
    case .closed, .conflict, .internalError: .us
    }
  }

  package var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
