import PostgreSQLServerTesting
import PostgreSQLSessions
import Testing

/// Gives a suite a server of its own: `@Suite(.postgreSQL)`, then `PostgreSQLServer.current`.
struct ServerTrait: SuiteTrait, TestScoping {
  let settings: [String]

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let server = try await PostgreSQLServer.started(settings)
    // Tasks that were begun in the suite, such as a timer of a SQLite store, keep the value for a while.
    defer { server.end() }
    try await PostgreSQLServer.$shared.withValue(server, operation: function)
  }
}

extension Trait where Self == ServerTrait {
  static var postgreSQL: Self { Self(settings: []) }

  static func postgreSQL(_ settings: String...) -> Self { Self(settings: settings) }
}

extension PostgreSQLServer {
  @TaskLocal static var shared: PostgreSQLServer?

  /// The suite's server.
  static var current: PostgreSQLServer { get throws { try #require(shared, "the suite wants the trait .postgreSQL") } }
}
