import Foundation

/// A value that threads change and wait for.
///
/// `@unchecked`: every access to `value` is between `lock` and `unlock` of `condition`.
final class Watched<Value>: @unchecked Sendable {
  private let condition = NSCondition()
  private var value: Value

  init(_ value: Value) { self.value = value }

  /// Changes the value and wakes all waiting threads.
  @discardableResult
  func update<Result>(_ change: (inout Value) throws -> Result) rethrows -> Result {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return try change(&value)
  }

  /// The value now.
  var current: Value {
    condition.lock()
    defer { condition.unlock() }
    return value
  }

  /// Waits until `take` answers, however long that is.
  func take<Result>(_ take: (inout Value) -> Result?) -> Result {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result = take(&value) { return result }
      condition.wait()
    }
  }

  /// Waits until `take` answers.
  /// - Throws: `HarnessError.timedOut` when the deadline passes first.
  func take<Result>(_ what: String, by deadline: Deadline, _ take: (inout Value) -> Result?) throws -> Result {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let result = take(&value) { return result }
      guard condition.wait(until: deadline.date) else {
        if let result = take(&value) { return result }
        throw HarnessError.timedOut(what)
      }
    }
  }
}

/// Something that stays shut until a test opens it: how a server of the tests waits without sleeping.
struct Gate: Sendable {
  private let isOpen = Watched(false)

  func open() { isOpen.update { $0 = true } }

  /// Waits until the gate is open.
  func wait(_ what: String = "a gate to open", by deadline: Deadline = .standard) throws {
    try isOpen.take(what, by: deadline) { $0 ? () : nil }
  }
}
