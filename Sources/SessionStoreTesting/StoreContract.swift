package import FoundationEssentials
package import Sessions

/// The contract of a store: one sentence and one run each. A store's tests run all of them:
///
///     @Test("The store keeps the contract", arguments: StoreContract.all)
///     func contract(_ contract: StoreContract) async throws { try await contract.run(on: …) }
package struct StoreContract: Sendable, CustomStringConvertible {
  /// Every sentence of the contract.
  package static let all =
    signingIn + sessions + revalidations + accounts + tokens + notifications + messages + transfers + movedUsers + bans
    + groups + accessRequests + invitations + machineTokens + accountAccess + changes + schema + closing

  /// The requirement.
  package let sentence: String
  private let body: @Sendable (StoreUnderTest) async throws -> Void

  init(_ sentence: String, _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void) {
    self.sentence = sentence
    self.body = body
  }

  /// Tries it on a store that holds nothing yet.
  ///
  /// - Throws: `ContractViolation`, or what the store threw.
  package func run(on store: StoreUnderTest) async throws { try await body(store) }

  package var description: String { sentence }
}

/// Fresh, empty data, seen by two replicas.
package struct StoreUnderTest: Sendable {
  /// Two ways to the same data, as two processes have them (two connections or pools, not one shared object).
  package let first: any SessionStore
  /// The other way to the same data.
  package let second: any SessionStore
  /// Opens the same data once more, as after a restart.
  package let reopen: @Sendable () async throws -> any SessionStore
  /// Changes the schema of the same data as a newer version would.
  package let change: @Sendable (SchemaChange) async throws -> Void
  /// Adds this many users to the same data, each with a request for access from this moment.
  package let fill: @Sendable (_ count: Int, _ asked: Date) async throws -> Void
  /// Damages the message with this identifier in the same data.
  package let damage: @Sendable (_ message: String) async throws -> Void

  /// A store with the means that only its own tests have: reopening it, and changing it behind its back.
  package init(
    first: any SessionStore, second: any SessionStore,
    reopen: @escaping @Sendable () async throws -> any SessionStore,
    change: @escaping @Sendable (SchemaChange) async throws -> Void,
    fill: @escaping @Sendable (_ count: Int, _ asked: Date) async throws -> Void,
    damage: @escaping @Sendable (_ message: String) async throws -> Void
  ) {
    self.first = first
    self.second = second
    self.reopen = reopen
    self.change = change
    self.fill = fill
    self.damage = damage
  }

  /// Runs `body` this many times at once, on one replica and the other in turn.
  func concurrently<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (any SessionStore, Int) async throws -> Value
  ) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
      for number in 0..<count {
        let store = number.isMultiple(of: 2) ? first : second
        group.addTask { try await body(store, number) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// The change that a newer version makes to the schema.
  package enum SchemaChange: Sendable {
    /// A migration that this version does not know has run, and added a column to the accounts.
    case newerVersion
    /// `minimum_reader` is this from now on.
    case minimumReader(Int)
  }
}

/// The store did otherwise than the contract says.
package struct ContractViolation: Error, CustomStringConvertible {
  /// The violation, and the place in the contract.
  package let description: String
}

func require(
  _ condition: Bool, _ otherwise: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws {
  guard condition else { throw ContractViolation(description: "\(otherwise()) (\(file):\(line))") }
}

func requireEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws {
  try require(value == expected, "\(what) is \(value), not \(expected)", file: file, line: line)
}

func requireValue<Value>(
  _ value: Value?, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
  guard let value else { throw ContractViolation(description: "there is no \(what) (\(file):\(line))") }
  return value
}

func requireError(
  _ code: StoreError.Code, file: StaticString = #fileID, line: UInt = #line,
  _ body: () async throws(StoreError) -> Void
) async throws {
  do {
    try await body()
  } catch {
    return try requireEqual(error.code, code, "the error", file: file, line: line)
  }
  throw ContractViolation(description: "no error, instead of \(code) (\(file):\(line))")
}
