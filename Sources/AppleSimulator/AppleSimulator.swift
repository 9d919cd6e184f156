import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A local Apple: an independent server that behaves like Apple's sign-in endpoints, and refuses what they refuse.
///
/// It shares no code with the client side of this package, so that a bug would have to be in both.
/// Everything is kept in memory. Its tokens carry Apple's real issuer, signed by keys of its own.
package struct AppleSimulator: Sendable {
  private let configuration: SimulatorConfiguration
  private let apple: SimulatedApple

  /// - Parameter configuration: the address to listen on, the clients and the users.
  /// - Throws: `RegistrationError` for a client that Apple's portal would refuse.
  package init(configuration: SimulatorConfiguration) throws(RegistrationError) {
    var state = SimulatorState(users: configuration.users, switches: configuration.switches)
    for client in configuration.clients {
      try client.validate(allowingLoopback: configuration.switches.allowsLoopbackRedirects)
      state.clients[client.clientID] = client
    }
    state.notificationURL = configuration.notificationURL
    self.configuration = configuration
    apple = SimulatedApple(state: state)
  }

  /// Serves until the task is cancelled.
  ///
  /// - Parameter onReady: called once it listens, with its address (`http://127.0.0.1:8090`).
  package func run(onReady: @escaping @Sendable (String) async -> Void = { _ in }) async throws {
    try await application(onReady: onReady).run()
  }

  /// Serves until SIGINT or SIGTERM.
  /// - Throws: ``ListeningError`` if it cannot listen on its address.
  package func runUntilSignalled(onReady: @escaping @Sendable (String) async -> Void = { _ in }) async throws {
    do {
      try await application(onReady: onReady).runService()
    } catch {
      throw ListeningError(error, host: configuration.host, port: configuration.port) ?? error
    }
  }

  /// Serves while a body of work runs that is given the address (`http://127.0.0.1:49152`), and stops with it.
  package func whileRunning<Result: Sendable>(
    _ body: @escaping @Sendable (String) async throws -> Result
  ) async throws -> Result {
    let (addresses, announcement) = AsyncStream.makeStream(of: String.self)
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask {
        defer { announcement.finish() }
        try await run { address in announcement.yield(address) }
        return nil
      }
      group.addTask {
        for await address in addresses { return try await body(address) }
        return nil
      }
      defer { group.cancelAll() }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }

  private func application(onReady: @escaping @Sendable (String) async -> Void) throws -> some ApplicationProtocol {
    // Made now, so that the first request does not wait for RSA keys.
    _ = SigningKeySource.shared.key(at: 1)
    let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.middlewares.add(RecordingMiddleware(apple: apple))
    router.get("/") { _, _ in Response.page(WelcomePage().html) }
    AuthorizeRoutes(apple: apple).add(to: router)
    TokenRoutes(apple: apple).add(to: router)
    ButtonRoutes().add(to: router)
    ControlRoutes(apple: apple).add(to: router)

    var logger = Logger(label: "apple-simulator")
    logger.logLevel = .critical
    let host = configuration.host
    return Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname(host, port: configuration.port)),
      onServerRunning: { channel in
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        await onReady("http://\(name):\(channel.localAddress?.port ?? 0)")
      },
      logger: logger)
  }
}
