/// Waits until a condition holds.
/// - Parameter what: the event, for the error: `the second use to be written`.
/// - Throws: ``WaitedInVain``, or the error of the condition, which ends the waiting at once.
package func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
  _ = try await firstAnswer(what) { try await condition() ? true : nil }
}

/// Whether a condition comes true, for an expectation that shows it: `#expect(await eventually { … })`.
package func eventually(_ condition: () async -> Bool) async -> Bool {
  do {
    try await eventually("the condition", condition)
    return true
  } catch {
    return false
  }
}

/// Asks again and again until `probe` answers: every millisecond, and for two minutes at most, which is longer than
/// anything takes on a busy machine.
/// - Parameter what: the answer, for the error.
/// - Throws: ``WaitedInVain``, or the error of `probe`, which ends the waiting at once.
package func firstAnswer<Answer>(_ what: String, _ probe: () async throws -> Answer?) async throws -> Answer {
  let deadline = ContinuousClock.now + .seconds(120)
  while true {
    if let answer = try await probe() { return answer }
    guard ContinuousClock.now < deadline else { throw WaitedInVain(what: what) }
    try await Task.sleep(for: .milliseconds(1))
  }
}

/// The error of a test that has waited in vain.
package struct WaitedInVain: Error {
  /// The event that did not come.
  package let what: String

  /// An event that did not come.
  package init(what: String) { self.what = what }
}
