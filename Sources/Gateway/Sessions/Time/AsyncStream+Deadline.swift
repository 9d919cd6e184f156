extension AsyncStream<Never> {
  /// Waits for the end of the stream until a deadline, or until cancelled.
  /// - Returns: whether it ended before.
  @discardableResult
  func waitForEnd(by deadline: ContinuousClock.Instant) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in self {}
        return !Task.isCancelled
      }
      group.addTask {
        try? await Task.sleep(until: deadline, clock: .continuous)
        return false
      }
      let isFirst = await group.next() ?? false
      group.cancelAll()
      return isFirst
    }
  }
}

extension Task<Void, Never> {
  /// Waits for the end of the task until a deadline, or until the caller is cancelled. Neither cancels the task.
  /// - Returns: whether it ended before.
  @discardableResult
  func waitForEnd(by deadline: ContinuousClock.Instant) async -> Bool {
    let (end, signal) = AsyncStream<Never>.makeStream()
    Task<Void, Never> {
      await self.value
      signal.finish()
    }
    return await end.waitForEnd(by: deadline)
  }
}
