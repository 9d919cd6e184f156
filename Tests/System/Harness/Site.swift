import Foundation
import Testing

/// An application, the gateway before it, and the simulated Apple: what a suite of system tests shares. Attacks go
/// against one process, so that a test sees whether it lives on.
@SystemActor
final class Site {
  let upstream: RawUpstream
  let apple: SimulatorProcess
  let gateway: GatewayProcess
  /// The gateway's and Apple's wall clock, if the suite asked for one of its own.
  let clock: FakeClock?

  /// - Parameter adjust: changes the configuration before it is written.
  init(
    fakeClock: Bool = false, upstream handler: @escaping RawUpstream.RequestHandler = RawUpstream.greet,
    adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws {
    upstream = try RawUpstream(handler)
    clock = fakeClock ? try FakeClock() : nil
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)", apple: nil)
    apple = try SimulatorProcess(redirectURI: configuration.redirectURI)
    configuration["apple", "base_url"] = "\"\(apple.baseURL)\""
    adjust(&configuration)
    gateway = try GatewayProcess(configuration, clock: clock)
  }

  func stop() {
    gateway.stop()
    apple.stop()
    upstream.stop()
  }

  var origin: String { gateway.origin }

  /// An address below the gateway's own prefix.
  func own(_ path: String) -> String { "\(gateway.origin)/.auth/\(path)" }

  /// Days pass, for the gateway and for Apple.
  func setClock(secondsAhead seconds: Int) throws {
    try clock?.set(secondsAhead: seconds)
    try apple.setClock(secondsAhead: Double(seconds))
  }

  // MARK: The state of things after an attack

  /// The same process runs, and an honest stranger and an honest user are served.
  func expectUnharmed(
    pid: pid_t, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(gateway.process.isRunning && gateway.process.pid == pid, comment, sourceLocation: sourceLocation)
    let stranger = try gateway.client.get("/.auth/session")
    #expect(stranger.status == 401, comment, sourceLocation: sourceLocation)
  }

  /// Runs an attack, and then sees that the process lives and serves.
  func surviving<Result>(
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation, _ attack: () throws -> Result
  ) throws -> Result {
    let pid = gateway.process.pid
    let result = try attack()
    try expectUnharmed(pid: pid, comment, sourceLocation: sourceLocation)
    return result
  }

  /// A browser at Apple's last page, one press before the callback.
  func beforeCallback(as user: String = "anna", returnTo: String? = nil) throws -> Visitor {
    let visitor = Visitor()
    try visitor.start(self, returnTo: returnTo)
    try visitor.decide(.proceed(user: user))
    return visitor
  }
}

/// Gives a suite its site: `@Suite(.site)`, then `Site.current`.
struct SiteTrait: SuiteTrait, TestScoping {
  let make: @SystemActor @Sendable () throws -> Site

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let site = try await SystemActor.run { try make() }
    do {
      try await Site.$shared.withValue(site, operation: function)
    } catch {
      await site.stop()
      throw error
    }
    await site.stop()
  }
}

extension Trait where Self == SiteTrait {
  /// A site of the suite's own, with the ordinary configuration.
  static var site: Self { Self { try Site() } }

  /// A site of the suite's own, with another configuration.
  static func site(adjust: @escaping @SystemActor @Sendable (inout GatewayConfiguration) -> Void) -> Self {
    Self { try Site(adjust: adjust) }
  }

  /// A site of the suite's own, with more lines at the end of the configuration, and another application.
  static func site(
    ending: String, upstream: @escaping RawUpstream.RequestHandler = RawUpstream.greet
  ) -> Self {
    Self { try Site(upstream: upstream) { $0.ending = ending } }
  }
}

extension Site {
  @TaskLocal static var shared: Site?

  /// The suite's site.
  static var current: Site {
    get throws {
      guard let shared else { throw HarnessError.missing("a site: the suite wants the trait .site") }
      return shared
    }
  }
}
