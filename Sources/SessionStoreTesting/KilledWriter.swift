import Foundation
import Processes
package import Sessions
import TemporaryDirectoryTesting

/// Processes of a store that are killed in the middle of writing, time and again, on the same data: what was
/// acknowledged is there, what was signed out does not come back, and every time the store opens again.
///
/// The writer is a program that signs users in and out without end, and says of each what the store has acknowledged,
/// in lines: `began ID`, `ended ID` (`Tests/StoreWriter`). Or one that has users redeem an invitation, and says
/// `joined NAME`.
package struct KilledWriter: Sendable {
  private let program: String
  private let arguments: [String]
  private let open: @Sendable () async throws -> any SessionStore

  /// The number of writes that the store had acknowledged at the end.
  package struct Acknowledged: Sendable {
    /// Sessions that were begun, also those that ended later.
    package internal(set) var began: Set<PublicSessionID> = []
    /// Sessions that were signed out: none of them may be found again.
    package internal(set) var ended: Set<PublicSessionID> = []
    /// Users who redeemed the invitation.
    package internal(set) var joined: Set<PublicSessionID> = []
  }

  /// - Parameters:
  ///   - program: the writer's path; `arguments` are what it is started with.
  ///   - open: opens the data that it writes to.
  package init(
    _ program: String, _ arguments: [String], open: @escaping @Sendable () async throws -> any SessionStore
  ) {
    self.program = program
    self.arguments = arguments
    self.open = open
  }

  /// Kills the writer this often, each time after another number of lines, and looks after each time.
  ///
  /// - Throws: `ContractViolation`, or what the store threw.
  package func run(rounds: Int) async throws -> Acknowledged {
    var all = Acknowledged()
    for round in 0..<rounds {
      let said = try await writeAndKill(afterLines: 1 + round % 23)
      all.began.formUnion(said.began)
      all.ended.formUnion(said.ended)
      // All of them at the end; on the way those of the round.
      let looked = round == rounds - 1 ? all.began : said.began.union(said.ended)
      let store = try await open()
      for handle in looked {
        try await look(at: handle, in: store, wasEnded: all.ended.contains(handle), round: round)
      }
      try await store.close()
    }
    return all
  }

  /// Kills a writer of redemptions this often, and looks after each time: every user who was acknowledged is a member,
  /// and there are as many members as uses.
  ///
  /// - Parameters:
  ///   - hash: of the code of the invitation, which is there already.
  ///   - subject: the user of a name that the writer says.
  /// - Returns: the number of members at the end.
  /// - Throws: `ContractViolation`, or what the store threw.
  package func runRedemptions(
    rounds: Int, hash: [UInt8], subject: (PublicSessionID) -> Subject?
  ) async throws -> Int {
    var members = 0
    for round in 0..<rounds {
      let said = try await writeAndKill(afterLines: 1 + round % 7)
      let store = try await open()
      let invitation = try requireValue(try await store.invitation(hash: hash), "invitation")
      for name in said.joined {
        let user = try requireValue(subject(name), "subject")
        try requireEqual(
          try await store.groups(of: user), [invitation.group], "in round \(round), the groups of an acknowledged user")
      }
      members = try await store.memberCounts()[invitation.group] ?? 0
      try requireEqual(invitation.used, members, "in round \(round), the number of uses")
      try await store.close()
    }
    return members
  }

  /// A sign-out that was killed before it was acknowledged may have come about, or not.
  private func look(at handle: PublicSessionID, in store: any SessionStore, wasEnded: Bool, round: Int) async throws {
    let isThere = try await store.find(handle) != nil
    if wasEnded {
      try require(!isThere, "in round \(round), a session that was signed out is back")
    } else if !isThere {
      try require(
        try await hasEnded(handle, in: store), "in round \(round), a session that was acknowledged is lost")
    }
  }

  /// Whether a session that is not there has ended, rather than got lost: then its ID cannot begin again.
  private func hasEnded(_ handle: PublicSessionID, in store: any SessionStore) async throws -> Bool {
    let session = Session(
      handle: handle, subject: try Scenario.subject(), clientID: Scenario.web, began: Scenario.noon,
      ends: Scenario.later(.seconds(60)), lastSeen: Scenario.noon)
    do {
      _ = try await store.complete(SignIn(session: session, name: nil, claims: AccountClaims(), token: nil))
      return false
    } catch {
      return error.code == .conflict
    }
  }

  /// Runs a writer until it has said this many lines, and kills it.
  ///
  /// On a thread of its own: it waits for a pipe, and of the threads of Swift's tasks there are as few as processors.
  /// - Returns: everything that it said.
  private func writeAndKill(afterLines count: Int) async throws -> Acknowledged {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try waitAndKill(afterLines: count) }) }
    }
  }

  private func waitAndKill(afterLines count: Int) throws -> Acknowledged {
    // A file, not a pipe: what other tests start at the same moment may inherit the ends of a pipe.
    let folder = try TemporaryDirectory()
    let output = folder.url.appendingPathComponent("output")
    let writer = try spawn(output: output.path)
    var status: Int32 = 0
    var hasEnded = false
    let deadline = ContinuousClock.now + .seconds(120)
    while !hasEnded, ContinuousClock.now < deadline, try Self.lines(of: output) < count {
      usleep(500)
      hasEnded = waitpid(writer, &status, WNOHANG) == writer
    }
    if !hasEnded {
      kill(writer, SIGKILL)
      while waitpid(writer, &status, 0) == -1 && errno == EINTR {}
    }
    let said = try String(contentsOf: output, encoding: .utf8)
    try require(status & 0x7F == SIGKILL, "a writer ended by itself, with status \(status): \(said)")
    try require(try Self.lines(of: output) >= count, "a writer said too little in two minutes: \(said)")
    return Acknowledged(said: said)
  }

  private static func lines(of output: URL) throws -> Int { try Data(contentsOf: output).count { $0 == 10 } }

  /// Starts the writer, whose output and errors go to a file. In our process group: it never ends by itself, and has to
  /// end with the tests when somebody interrupts them.
  private func spawn(output: String) throws -> pid_t {
    var spawn = Spawn(program, arguments, output: .file(output))
    spawn.hasOwnGroup = false
    do throws(SpawnError) { return try spawn.start() } catch {
      throw ContractViolation(description: "\(program) does not start: \(error.reason)")
    }
  }
}

extension KilledWriter.Acknowledged {
  fileprivate init(said: String) {
    for line in said.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let handle = PublicSessionID(text: String(words[1])) else { continue }
      switch words[0] {
      case "began": began.insert(handle)
      case "joined": joined.insert(handle)
      default: ended.insert(handle)
      }
    }
  }
}
