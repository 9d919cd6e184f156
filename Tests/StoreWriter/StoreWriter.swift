import FoundationEssentials
import Glibc
import PostgreSQLSessions
import SQLiteSessions
import Secrets
import Sessions

// A process of the store alone, for tests that kill it and for measurements.
//
//   store-writer write STORE           signs users in and out without end, and says of each what the store has
//   acknowledged: "began ID", "ended ID". To be killed.
//   store-writer redeem STORE CODE  has new users redeem an invitation without end, and says "joined NAME" of each that
//   the store has acknowledged; the user is called joiner.NAME. To be killed.
//   store-writer writes STORE SECONDS  how many sign-ins (account, token and session in one transaction) a second
//   store-writer first-sight STORE COUNT  how long opening takes, and how long looking up sessions, chosen by chance
//
//   store-writer token STORE NAME GROUP   makes a machine token and prints it
//   store-writer revoke STORE NAME        revokes a machine token
//
// STORE is a file of SQLite or a postgresql:// address.

@main
struct StoreWriter {
  static func main() async throws {
    // If the tests crash, nobody kills it: it ends by itself.
    let starter = getppid()
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else {
      say(
        "store-writer write STORE | redeem STORE CODE | writes STORE SECONDS | first-sight STORE COUNT "
          + "| token STORE NAME GROUP | revoke STORE NAME")
      exit(64)
    }
    let number = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
    switch arguments[1] {
    case "write": try await write(to: open(arguments[2]), for: starter)
    case "redeem" where arguments.count > 3: try await redeem(arguments[3], in: open(arguments[2]), for: starter)
    case "writes": try await Measurement(store: open(arguments[2])).writes(seconds: max(number, 1))
    case "first-sight": try await Measurement.firstSight(arguments[2], count: max(number, 1))
    case "token": try await issueToken(open(arguments[2]), named: arguments.dropFirst(3))
    case "revoke": try await revokeToken(open(arguments[2]), named: arguments.dropFirst(3))
    default: exit(64)
    }
  }

  /// - Parameter names: the token's name, and its group.
  private static func issueToken(_ store: any SessionStore, named names: ArraySlice<String>) async throws {
    guard names.count == 2, let name = names.first.flatMap({ GroupName($0) }),
      let group = names.last.flatMap({ GroupName($0) })
    else { exit(64) }
    let (text, handle) = MachineTokenText.random(try await store.storeKey())
    try await store.create(
      MachineToken(name: name, handle: handle, group: group, created: .now, expires: nil, by: "test"))
    try await store.close()
    say(text)
  }

  private static func revokeToken(_ store: any SessionStore, named names: ArraySlice<String>) async throws {
    guard let name = names.first.flatMap({ GroupName($0) }) else { exit(64) }
    guard try await store.revokeToken(name, at: .now) != nil else { exit(1) }
    try await store.close()
  }

  static func open(_ place: String) async throws -> any SessionStore {
    if place.utf8.starts(with: "postgresql:".utf8) { return try await PostgreSQLSessionStore(url: place) }
    return try SQLiteSessionStore(path: place)
  }

  private static func write(to store: any SessionStore, for starter: pid_t) async throws {
    let people = try People()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          while getppid() == starter {
            let signIn = try people.signIn("writer.\(writer)")
            _ = try await store.complete(signIn)
            say("began \(signIn.session.handle)")
            guard Bool.random() else { continue }
            try await store.end(.one(signIn.session.handle), because: .signedOut, at: .now)
            say("ended \(signIn.session.handle)")
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension StoreWriter {
  private static func redeem(_ code: String, in store: any SessionStore, for starter: pid_t) async throws {
    guard let code = InvitationCode(code) else { exit(64) }
    let people = try People()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while getppid() == starter {
            let name = SessionIdentifier.random().handle
            let user = try people.signIn("joiner.\(name)")
            _ = try await store.complete(user)
            let subject = user.session.subject
            let outcome = try await store.redeem(hash: code.hash, by: subject, isMember: false, at: .now)
            if case .joined = outcome { say("joined \(name)") }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

/// The user who signs in.
struct People: Sendable {
  private let keyring: SessionKeyring

  init() throws { keyring = try SessionKeyring(secrets: [SessionSecret(Array(repeating: 7, count: 32))]) }

  func signIn(_ name: String) throws -> SignIn {
    guard let subject = Subject(name) else { throw StoreError(code: .internalError, message: "no subject") }
    var claims = AccountClaims()
    claims.email = "\(name)@example.com"
    claims.emailVerified = true
    return SignIn(
      session: Session(.random(), of: subject, clientID: "web", now: .now, lifetime: .seconds(86_400)), name: nil,
      claims: claims, token: try keyring.seal(RefreshToken("r.\(name)"), of: subject, clientID: "web"))
  }
}

/// One line, by one call of the system: a kill leaves no half of it.
func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  _ = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
}
