internal import Secrets
internal import Synchronization
internal import TLSTransport

/// A value that was read from files of certificates and keys, and that is read again when they have changed.
final class LoadedFiles<Value: Sendable>: Sendable {
  private let files: [String]
  private let state: Mutex<State>

  private struct State {
    var value: Value
    /// The attributes of the files just before they were last read.
    var seen: FileAttributes
    /// Whether reading failed, and may succeed later although nothing of the files changes.
    var isUnread = false
  }

  /// - Parameters:
  ///   - files: every file that `read` reads.
  ///   - read: reads them.
  init(_ files: [String], read: () throws(TLSConfigurationError) -> Value) throws(TLSConfigurationError) {
    self.files = files
    let seen = FileAttributes(files)
    state = Mutex(State(value: try read(), seen: seen))
  }

  var value: Value { state.withLock { $0.value } }

  /// Replaces the value, as if the files had held it.
  func replace(_ value: Value) { state.withLock { $0.value = value } }

  /// Whether a file has changed since it was last read, with or without success, or could not be read at that moment.
  var isOutdated: Bool {
    let (seen, isUnread) = state.withLock { ($0.seen, $0.isUnread) }
    return isUnread || seen != FileAttributes(files)
  }

  /// Reads every file again. If that fails, the value stays as it was.
  /// - Parameter read: gets the present value.
  func reload(_ read: (Value) throws(TLSConfigurationError) -> Value) throws(TLSConfigurationError) {
    let seen = FileAttributes(files)
    let before = state.withLock { state in
      state.seen = seen
      return state.value
    }
    do throws(TLSConfigurationError) {
      let value = try read(before)
      state.withLock { state in
        state.value = value
        state.isUnread = false
      }
    } catch {
      state.withLock { $0.isUnread = error.isTransient }
      throw error
    }
  }
}
