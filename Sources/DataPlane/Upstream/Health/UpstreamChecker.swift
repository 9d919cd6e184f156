internal import HTTPTypes
package import NIOCore
internal import Synchronization

/// Checks the health of each address of an upstream at an interval (see ``UpstreamCheckSettings``).
///
/// Each check has its own connection, and each address its own schedule: a slow one does not delay others. Results of
/// checks do not count as failed requests of an address.
package struct UpstreamChecker: Sendable {
  private let settings: UpstreamCheckSettings
  private let endpoints: [(endpoint: UpstreamEndpoint, client: OriginClient)]

  /// - Parameter authority: what `Host` says: the application knows itself by the public name.
  /// - Returns: nil where the upstream is not to be checked.
  package init?(_ group: UpstreamGroup, authority: String, on eventLoop: any EventLoop) async throws {
    guard let settings = group.settings.check else { return nil }
    self.settings = settings
    var endpoints: [(UpstreamEndpoint, OriginClient)] = []
    for (endpoint, apart) in zip(group.endpoints, group.apart()) {
      let client = try await OriginClient(
        apart, authority: authority, timeout: settings.timeout, bodyLimit: Self.bodyLimit, proposesLenience: true,
        on: eventLoop)
      endpoints.append((endpoint, client))
    }
    self.endpoints = endpoints
  }

  /// Most bytes of an answer's body; a check that is answered with more has failed.
  private static let bodyLimit = 1 << 20

  /// Checks until cancelled.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      for (endpoint, client) in endpoints {
        group.addTask { [self] in await watch(endpoint, by: client) }
      }
    }
  }

  /// Checks one address until cancelled.
  private func watch(_ endpoint: UpstreamEndpoint, by client: OriginClient) async {
    var health = CheckedHealth(settings)
    while !Task.isCancelled {
      // Without a descriptor for it a check would say nothing about the address.
      if DescriptorBudget.process.room(for: .own) > 0 {
        guard let result = await outcome(client) else { return }
        switch result {
        case .good:
          health.record(isGood: true)
          endpoint.hasAnswered.store(true, ordering: .relaxed)
        case .bad(let reason):
          health.record(isGood: false)
          endpoint.checkFailure.withLock { $0 = reason }
        }
        endpoint.failsChecks.store(!health.isHealthy, ordering: .relaxed)
      }
      try? await Task.sleep(for: settings.interval)
    }
  }

  /// The outcome of a check.
  private enum Outcome: Sendable {
    case good
    case bad(String)
  }

  /// The outcome of a check; nil when cancelled, which does not wait for a response: the gateway may be stopping.
  private func outcome(_ client: OriginClient) async -> Outcome? {
    let (outcomes, continuation) = AsyncStream.makeStream(of: Outcome.self)
    Task {
      continuation.yield(await check(client))
      continuation.finish()
    }
    var iterator = outcomes.makeAsyncIterator()
    return await iterator.next()
  }

  private func check(_ client: OriginClient) async -> Outcome {
    let request = HTTPRequest(
      method: .get, scheme: nil, authority: nil, path: settings.path,
      headerFields: [.userAgent: "cordon-check", .accept: "*/*"])
    do throws(OriginError) {
      let status = try await client.send(request, body: []).head.status.code
      return (200..<400).contains(status) ? .good : .bad("status \(status)")
    } catch {
      return switch error {
      case .notSent(let reason), .unanswered(let reason): .bad(reason)
      }
    }
  }
}
