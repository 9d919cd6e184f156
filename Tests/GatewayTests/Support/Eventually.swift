/// Longer than any test takes, also on a machine that stands still: for time limits of the code under test that must
/// not end anything.
let unreachable = Duration.seconds(3_600)

/// Waits until something is so, for two minutes at most.
func eventually(_ what: String, _ condition: () -> Bool) async throws {
  let clock = ContinuousClock()
  let deadline = clock.now.advanced(by: .seconds(120))
  while !condition() {
    guard clock.now < deadline else { throw WaitedInVain(what: what) }
    try await Task.sleep(for: .milliseconds(1))
  }
}

struct WaitedInVain: Error { let what: String }
