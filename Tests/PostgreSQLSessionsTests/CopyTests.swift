import Foundation
import PostgreSQLServerTesting
import SQLiteSessions
import Sessions
import TemporaryDirectoryTesting
import Testing

@testable import PostgreSQLSessions

@Suite("Copying a store from SQLite to PostgreSQL", .postgreSQL)
struct CopyTests {
  /// A store with more rows than a batch holds.
  private func filled(_ path: String) async throws -> (SQLiteSessionStore, [SignIn]) {
    let store = try SQLiteSessionStore(path: path)
    var signIns: [SignIn] = []
    for number in 0..<1_200 {
      let next = try signIn(number == 7 ? "o'b\"r\\{ien}" : "user\(number)")
      signIns.append(next)
      _ = try await store.complete(next)
    }
    let gone = signIns.removeLast()
    try await store.end(.one(gone.session.handle), because: .signedOut, at: noon)
    let name = try #require(PersonName(given: "Zo\u{EB}\\\"", family: nil))
    try await store.savePendingName(name, submittedBy: try #require(Subject("later")), at: noon)
    _ = try await store.consume(.attempt([1]), until: noon.addingTimeInterval(600))
    try await fillAccess(of: store, signIns.prefix(9).map(\.session.subject))
    return (store, signIns)
  }

  /// Bans, members, requests, invitations and machine tokens, more than a batch of the members.
  private func fillAccess(of store: SQLiteSessionStore, _ subjects: [Subject]) async throws {
    let staff = try #require(GroupName("staff"))
    for number in 0..<600 {
      _ = try await store.add(try #require(Subject("member.\(number)")), to: staff, by: "cli", at: noon)
    }
    _ = try await store.add(subjects[0], to: staff, by: "cli", at: noon)
    _ = try await store.ask(subjects[1], code: Self.requestCode, at: noon)
    // The ban of somebody who is unknown, one that has an end, and one of which the hash alone is left.
    for (subject, until) in [(Self.stranger, nil), (subjects[2], noon.addingTimeInterval(60)), (Self.gone, nil)] {
      try await store.ban(try #require(subject), Ban(until: until, reason: "x\"'\\", since: noon, by: "cli"))
    }
    let transfer = PreparedTransfer(subject: try #require(Self.identifier), team: "NEWTEAM123")
    _ = try await store.prepare(transfer, of: try #require(Self.gone), at: noon)
    try await store.forget(try #require(Self.gone), keeping: [], at: noon)
    try await store.create(
      Invitation(
        id: "aaaaaaaa", group: staff, uses: 5, expires: noon.addingTimeInterval(600), note: nil, created: noon,
        by: "cli"), hash: Self.invitationCode.hash)
    _ = try await store.redeem(hash: Self.invitationCode.hash, by: subjects[3], isMember: false, at: noon)
    try await store.create(
      MachineToken(
        name: staff, handle: MachineTokenText.random(try await store.storeKey()).handle, group: staff, created: noon,
        expires: nil, by: "cli"))
    // A sign-in that left no token of its client.
    _ = try await store.complete(
      SignIn(
        session: Session(.random(), of: subjects[4], clientID: "app", now: noon, lifetime: .seconds(600)), name: nil,
        claims: AccountClaims(), token: nil, discardsToken: true))
  }

  private static let stranger = Subject("stranger")
  private static let gone = Subject("gone")
  private static let identifier = Subject("transfer")
  private static let requestCode = AccessRequestCode.random()
  private static let invitationCode = InvitationCode.random()

  @Test("Bans, groups, requests, invitations and machine tokens are copied, with the key that they rest on")
  func access() async throws {
    let folder = try TemporaryDirectory()
    let (source, signIns) = try await filled(folder.file("cordon.db"))
    let target = try await openStore(try PostgreSQLServer.current.makeDatabase(), isCopyTarget: true)
    #expect(try await target.storeKey().exposedBytes != source.storeKey().exposedBytes)
    #expect(try await StoreCopy.run(from: source, to: target))
    #expect(try await target.storeKey().exposedBytes == source.storeKey().exposedBytes)
    #expect(try await target.counts() == source.counts())
    #expect(try await target.memberCounts() == source.memberCounts())
    for subject in try [#require(Self.stranger), #require(Self.gone)] + signIns.prefix(9).map(\.session.subject) {
      #expect(try await target.ban(of: subject) == source.ban(of: subject))
      #expect(try await target.account(subject) == source.account(subject))
    }
    #expect(try await target.ban(of: #require(Self.gone)) != nil)
    #expect(try await target.account(signIns[4].session.subject)?.access.isTokenDiscarded == true)
    #expect(try await target.request(Self.requestCode, at: noon)?.subject == signIns[1].session.subject)
    #expect(try await target.invitations() == source.invitations())
    #expect(try await target.machineTokens() == source.machineTokens())
    // A use is a use there too.
    let user = signIns[3].session.subject
    _ = try await target.remove(user, from: try #require(GroupName("staff")), at: noon)
    let outcome = try await target.redeem(hash: Self.invitationCode.hash, by: user, isMember: false, at: noon)
    #expect(outcome == .closed)
    // The ban follows its user there too.
    let next = try #require(Subject("gone.new"))
    #expect(try await target.follow(try #require(Self.identifier), to: next, at: noon) == .moved)
    #expect(try await target.ban(of: next) == source.ban(of: #require(Self.gone)))
    for store in [source, target] as [any SessionStore] { try await store.close() }
  }

  @Test("Everything is there afterwards, as it was: accounts, tokens, sessions, names, marks; what had ended is not")
  func whole() async throws {
    let folder = try TemporaryDirectory()
    let (source, signIns) = try await filled(folder.file("cordon.db"))
    let target = try await openStore(try PostgreSQLServer.current.makeDatabase(), isCopyTarget: true)
    var reported: [StoreTable: Int] = [:]
    #expect(try await StoreCopy.run(from: source, to: target) { table, done, _ in reported[table] = done })
    #expect(reported[.accounts] == 1_200)
    #expect(try await target.counts() == source.counts())
    for signIn in signIns.prefix(20) {
      #expect(try await target.find(signIn.session.handle) == source.find(signIn.session.handle))
      let subject = signIn.session.subject
      #expect(try await target.tokens(of: subject) == source.tokens(of: subject))
      let email = try #require(signIn.claims.email)
      #expect(try await target.accounts(withEmail: email.uppercased()).records().map(\.subject) == [subject])
    }
    #expect(try await target.consume(.attempt([1]), until: noon) == false)
    let late = try await target.complete(
      SignIn(
        session: Session(
          .random(), of: try #require(Subject("later")), clientID: "web", now: noon, lifetime: .seconds(60)),
        name: nil, claims: AccountClaims(), token: nil))
    #expect(late.snapshot.account.name?.given == "Zo\u{EB}\\\"")
    for store in [source, target] as [any SessionStore] { try await store.close() }
  }

  @Test("A copy that was interrupted goes on, and one that is whole is not begun again")
  func resumed() async throws {
    let folder = try TemporaryDirectory()
    let (source, _) = try await filled(folder.file("cordon.db"))
    let url = try PostgreSQLServer.current.makeDatabase()
    let target = try await openStore(url, isCopyTarget: true)
    let running = try await openStore(url)
    // As far as a process came that was killed.
    #expect(try await target.beginCopy(of: CopiedContent.read(source)) == .begun)
    try await target.add(try await source.rows(of: .accounts, after: [], limit: 500), to: .accounts)
    // Nobody else uses it: neither who opens it now, nor who has had it open.
    let refused = await storeError { _ = try await openStore(url) }
    #expect(refused?.code == .unfinishedCopy && refused?.message.contains("store copy again") == true)
    #expect(await storeError { try await running.ping() }?.code == .unfinishedCopy)
    #expect(await storeError { _ = try await running.complete(try signIn("eve")) }?.code == .unfinishedCopy)
    var first: Int?
    #expect(try await StoreCopy.run(from: source, to: target) { _, done, _ in first = first ?? done })
    #expect(first == 1_000)
    #expect(try await target.counts() == source.counts())
    #expect(try await StoreCopy.run(from: source, to: target) == false)
    try await running.ping()
    _ = try await running.complete(try signIn("eve"))
    for store in [source, target, running] as [any SessionStore] { try await store.close() }
  }

  @Test("A database that holds something else, and a source that has changed since, are refused with the remedy")
  func refused() async throws {
    let folder = try TemporaryDirectory()
    let (source, signIns) = try await filled(folder.file("cordon.db"))
    let target = try await openStore(try PostgreSQLServer.current.makeDatabase(), isCopyTarget: true)
    _ = try await target.complete(try signIn("bob"))
    let inUse = await storeError { _ = try await StoreCopy.run(from: source, to: target) }
    #expect(inUse?.code == .conflict)
    #expect(inUse?.message.contains("empty") == true)
    #expect(try await target.counts().accounts == 1)
    let fresh = try await openStore(try PostgreSQLServer.current.makeDatabase(), isCopyTarget: true)
    #expect(try await fresh.beginCopy(of: CopiedContent.read(source)) == .begun)
    try await source.end(.one(signIns[0].session.handle), because: .signedOut, at: noon)
    #expect(await storeError { _ = try await StoreCopy.run(from: source, to: fresh) }?.code == .conflict)
    for store in [source, target, fresh] as [any SessionStore] { try await store.close() }
  }

  @Test("A database that a gateway checks meanwhile is refused, though it is empty, and used when the gateway is gone")
  func usedByGateway() async throws {
    let folder = try TemporaryDirectory()
    let source = try SQLiteSessionStore(path: folder.file("cordon.db"))
    _ = try await source.complete(try signIn("anna"))
    let url = try PostgreSQLServer.current.makeDatabase()
    let gateway = try await openStore(url)
    let target = try await openStore(url, isCopyTarget: true)
    let checks = Task { while !Task.isCancelled { try? await gateway.ping() } }
    let refused = await storeError { _ = try await StoreCopy.run(from: source, to: target) }
    checks.cancel()
    await checks.value
    #expect(refused?.code == .conflict && refused?.message.contains("a gateway is using") == true)
    // Its key and its tables are as they were.
    #expect(try await target.storeKey().exposedBytes == gateway.storeKey().exposedBytes)
    #expect(try await gateway.counts().accounts == 0)
    try await gateway.close()
    let content = try await CopiedContent.read(source)
    #expect(try await target.beginCopy(of: content, watchingFor: .milliseconds(10)) == .begun)
    #expect(try await StoreCopy.run(from: source, to: target))
    #expect(try await target.counts().accounts == 1)
    for store in [source, target] as [any SessionStore] { try await store.close() }
  }

  @Test("A gateway that starts between the making of the schema and the copy is noticed as well")
  func gatewayStartedMeanwhile() async throws {
    let folder = try TemporaryDirectory()
    let source = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let url = try PostgreSQLServer.current.makeDatabase()
    let target = try await openStore(url, isCopyTarget: true)
    let gateway = try await openStore(url)
    try await gateway.ping()
    let refused = await storeError { _ = try await StoreCopy.run(from: source, to: target) }
    #expect(refused?.code == .conflict && refused?.message.contains("a gateway is using") == true)
    for store in [source, target, gateway] as [any SessionStore] { try await store.close() }
  }

  @Test("A source that was used after it was copied is refused, whatever was written: sign-ins, tokens, last uses")
  func usedSince() async throws {
    let folder = try TemporaryDirectory()
    let source = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let anna = try signIn("anna")
    _ = try await source.complete(anna)
    let staff = try #require(GroupName("staff"))
    let key = try await source.storeKey()
    let uses: [() async throws -> Void] = [
      { _ = try await source.complete(try signIn("ben")) },
      {
        try await source.create(
          MachineToken(
            name: staff, handle: MachineTokenText.random(key).handle, group: staff, created: noon, expires: nil,
            by: "cli"))
      },
      {
        let seen = noon.addingTimeInterval(60)
        try await source.updateLastSeen([LastSeenUpdate(handle: anna.session.handle, seen: seen)])
      },
    ]
    for use in uses {
      let target = try await openStore(try PostgreSQLServer.current.makeDatabase(), isCopyTarget: true)
      #expect(try await StoreCopy.run(from: source, to: target))
      #expect(try await StoreCopy.run(from: source, to: target) == false)
      try await use()
      let error = await storeError { _ = try await StoreCopy.run(from: source, to: target) }
      #expect(error?.code == .conflict)
      #expect(error?.message.contains("before it changed") == true)
      try await target.close()
    }
    try await source.close()
  }
}
