/// Waits until something is so, for two minutes at most.
func eventually(_ what: String, _ condition: () -> Bool) async throws {
  let clock = ContinuousClock()
  let deadline = clock.now.advanced(by: .seconds(120))
  while !condition() {
    guard clock.now < deadline else { throw WaitedInVain(what: what) }
    await Task.yield()
  }
}

struct WaitedInVain: Error { let what: String }
