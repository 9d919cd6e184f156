import AppleIdentity
import FoundationEssentials
import Logging
import Operations
import Pages
import Secrets
import Sessions
import Synchronization
import Testing

@testable import Gateway

// A success response from Apple to a sign-in of this browser, in the order of its verification.
@Suite("The verification of a response to a sign-in")
struct SignInVerificationTests {
  /// The failure of a sign-in that must fail.
  private func failure(
    _ signIn: SignInRig, _ grant: AuthorizationResponse.Success, of state: SignInState
  ) async throws -> SignInError {
    do throws(SignInError) {
      _ = try await signIn.verification.complete(grant, of: state, signIn.request())
    } catch {
      return error
    }
    Issue.record("the sign-in did not fail")
    return SignInError(.internalError, "none")
  }

  @Test("A sign-in works once, and is consumed even by a response that fails before the code is sent")
  func once() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    let first = try await failure(signIn, signIn.grant(of: state, user: nil), of: state)
    #expect(first.page == .answerInvalid && first.reason == "identity_token")
    let second = try await failure(signIn, signIn.grant(of: state, user: "001.anna"), of: state)
    #expect(second.page == .attemptUsed && second.reason == "attempt_used")
    #expect(signIn.rig.apple.calls == 0)
    try await signIn.rig.stop()
  }

  @Test("Nothing is sent to Apple while the store cannot consume the sign-in")
  func storeAway() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    signIn.rig.store.state.withLock { $0.failures["consume"] = StoreError(code: .interrupted, message: "gone") }
    let error = try await failure(signIn, signIn.grant(of: state, user: "001.anna"), of: state)
    #expect(error.page == .storeUnavailable && error.reason == "store" && !error.isNameKept)
    #expect(signIn.rig.apple.calls == 0)
    try await signIn.rig.stop()
  }

  @Test("The browser's token must be of this sign-in before a name is saved or the code is sent")
  func wrongNonce() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let grant = try signIn.grant(of: state, user: "001.anna", nonce: signIn.begin().nonce, givenName: "Anna")
    let error = try await failure(signIn, grant, of: state)
    #expect(error.page == .answerInvalid && error.reason == "identity_token" && !error.isNameKept)
    // Only the keys were fetched.
    #expect(signIn.rig.apple.calls == 1)
    #expect(signIn.rig.store.state.withLock { $0.pendingNames.isEmpty && $0.sessions.isEmpty })
    try await signIn.rig.stop()
  }

  @Test("A banned user is refused before a name is saved or the code is sent")
  func banned() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let anna = try #require(Subject("001.anna"))
    let ban = Ban(until: nil, reason: nil, since: signIn.rig.clock.now, by: "cli")
    signIn.rig.store.state.withLock { $0.bans[anna] = ban }
    let error = try await failure(signIn, signIn.grant(of: state, user: "001.anna", givenName: "Anna"), of: state)
    #expect(error.page == .banned && error.reason == "banned")
    #expect(signIn.rig.apple.calls == 1)
    #expect(signIn.rig.store.state.withLock { $0.pendingNames.isEmpty && $0.sessions.isEmpty })
    try await signIn.rig.stop()
  }

  @Test("After a transfer the ban of the previous subject refuses the user, by account or not, and is moved")
  func bannedBeforeTransfer() async throws {
    for hasAccount in [false, true] {
      let signIn = try await SignInRig()
      let (old, new) = (try #require(Subject("001.anna")), try #require(Subject("002.anna")))
      if hasAccount { _ = try signIn.rig.signIn(old.text) }
      let transfer = PreparedTransfer(subject: try #require(Subject("r.anna")), team: "DEF123GHIJ")
      let ban = Ban(until: nil, reason: nil, since: signIn.rig.clock.now, by: "cli")
      signIn.rig.store.state.withLock { state in
        state.bans[old] = ban
        state.transfers[transfer] = old
      }
      signIn.rig.apple.transferSubject.withLock { $0 = "r.anna" }
      let state = signIn.begin()
      signIn.rig.apple.answer(.goodSignIn(of: new.text, nonce: state.nonce))
      let error = try await failure(signIn, signIn.grant(of: state, user: new.text, givenName: "Anna"), of: state)
      #expect(error.page == .banned && error.reason == "banned")
      // Only the keys were fetched: the code was not sent.
      #expect(signIn.rig.apple.calls == 1)
      #expect(signIn.rig.store.state.withLock { $0.pendingNames.isEmpty && $0.bans == [new: ban] })
      let subjects = signIn.rig.store.state.withLock { Array($0.accounts.keys) }
      #expect(subjects == (hasAccount ? [new] : []))
      try await signIn.rig.stop()
    }
  }

  @Test("After a transfer a user who signs in has the account of the previous subject, with its groups")
  func signedInAfterTransfer() async throws {
    let signIn = try await SignInRig()
    let (old, new) = (try #require(Subject("001.anna")), try #require(Subject("002.anna")))
    _ = try signIn.rig.signIn(old.text)
    let transfer = PreparedTransfer(subject: try #require(Subject("r.anna")), team: "DEF123GHIJ")
    let staff = try #require(GroupName("staff"))
    signIn.rig.store.state.withLock { state in
      state.members[staff] = [old]
      state.transfers[transfer] = old
    }
    signIn.rig.apple.transferSubject.withLock { $0 = "r.anna" }
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: new.text, nonce: state.nonce))
    let completion = try await signIn.verification.complete(
      signIn.grant(of: state, user: new.text), of: state, signIn.request())
    let account = completion.session.snapshot.account
    #expect(account.subject == new && account.claims.formerSubject == old && account.access.groups == [staff])
    #expect(signIn.rig.store.state.withLock { Array($0.accounts.keys) } == [new])
    try await signIn.rig.stop()
  }

  @Test("A sign-in after a transfer fails while the store neither finds nor moves the previous subject")
  func unknownBeforeTransfer() async throws {
    for operation in ["follow", "tokens", "move"] {
      let signIn = try await SignInRig()
      let old = try signIn.rig.signIn("001.anna").snapshot.account.subject
      let transfer = PreparedTransfer(subject: try #require(Subject("r.anna")), team: "DEF123GHIJ")
      signIn.rig.store.state.withLock { state in
        state.transfers[transfer] = old
        state.failures[operation] = StoreError(code: .busy, message: "locked")
      }
      signIn.rig.apple.transferSubject.withLock { $0 = "r.anna" }
      let state = signIn.begin()
      signIn.rig.apple.answer(.goodSignIn(of: "002.anna", nonce: state.nonce))
      let error = try await failure(signIn, signIn.grant(of: state, user: "002.anna"), of: state)
      #expect(error.page == .storeUnavailable && error.reason == "store", "\(operation)")
      #expect(signIn.rig.metrics.storeFailures.total("ban") == 1, "\(operation)")
      #expect(signIn.rig.store.state.withLock { Array($0.accounts.keys) } == [old], "\(operation)")
      try await signIn.rig.stop()
    }
  }

  @Test("A sign-in after a transfer fails while a refresh token of the account cannot be decrypted, and is logged")
  func undecryptableAfterTransfer() async throws {
    let lines = RecordedLines()
    let signIn = try await SignInRig(
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["error"]) })
    let old = try signIn.rig.signIn("001.anna").snapshot.account.subject
    let transfer = PreparedTransfer(subject: try #require(Subject("r.anna")), team: "DEF123GHIJ")
    let other = try SessionKeyring.forTests("b").seal(RefreshToken("r"), of: old, clientID: "web")
    signIn.rig.store.state.withLock { state in
      state.transfers[transfer] = old
      state.tokens[old] = StoredToken(subject: old, clientID: "web", token: other)
    }
    signIn.rig.apple.transferSubject.withLock { $0 = "r.anna" }
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "002.anna", nonce: state.nonce))
    let error = try await failure(signIn, signIn.grant(of: state, user: "002.anna"), of: state)
    #expect(error.page == .internalError && error.reason == "seal")
    #expect(lines.take() == ["moving an account to the new team failed a refresh token cannot be decrypted"])
    #expect(signIn.rig.store.state.withLock { Array($0.accounts.keys) } == [old])
    try await signIn.rig.stop()
  }

  @Test("A damaged refresh token does not keep a user from signing in after a transfer")
  func damagedAfterTransfer() async throws {
    let signIn = try await SignInRig()
    let (old, new) = (try signIn.rig.signIn("001.anna").snapshot.account.subject, try #require(Subject("002.anna")))
    let transfer = PreparedTransfer(subject: try #require(Subject("r.anna")), team: "DEF123GHIJ")
    // Bound to another user, so that it is refused as a damaged one is.
    let damaged = try signIn.rig.keyring.seal(RefreshToken("r"), of: new, clientID: "app")
    signIn.rig.store.state.withLock { state in
      state.transfers[transfer] = old
      state.tokens[old] = StoredToken(subject: old, clientID: "web", token: damaged)
    }
    signIn.rig.apple.transferSubject.withLock { $0 = "r.anna" }
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: new.text, nonce: state.nonce))
    let completion = try await signIn.verification.complete(
      signIn.grant(of: state, user: new.text), of: state, signIn.request())
    #expect(completion.session.snapshot.account.claims.formerSubject == old)
    // Apple sent no other one.
    #expect(signIn.rig.store.state.withLock { $0.tokens[new]?.token } == damaged)
    try await signIn.rig.stop()
  }

  @Test("A ban holds after a transfer even if its account is deleted while it is moved")
  func deletedMeanwhile() async throws {
    let signIn = try await SignInRig()
    let (old, new) = (try signIn.rig.signIn("001.anna").snapshot.account.subject, try #require(Subject("002.anna")))
    let transfer = PreparedTransfer(subject: try #require(Subject("r.anna")), team: "DEF123GHIJ")
    let ban = Ban(until: nil, reason: nil, since: signIn.rig.clock.now, by: "cli")
    signIn.rig.store.state.withLock { state in
      state.bans[old] = ban
      state.transfers[transfer] = old
      state.deletedMeanwhile = [old]
    }
    signIn.rig.apple.transferSubject.withLock { $0 = "r.anna" }
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: new.text, nonce: state.nonce))
    let error = try await failure(signIn, signIn.grant(of: state, user: new.text), of: state)
    #expect(error.page == .banned && signIn.rig.store.state.withLock { $0.bans } == [new: ban])
    try await signIn.rig.stop()
  }

  @Test("The code of another user creates no session, and the name of the browser's user is saved by then")
  func mismatch() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "002.mallory", nonce: state.nonce))
    let error = try await failure(signIn, signIn.grant(of: state, user: "001.anna", givenName: "Anna"), of: state)
    #expect(error.page == .answerInvalid && error.reason == "tokens_disagree" && error.isNameKept)
    let anna = try #require(Subject("001.anna"))
    #expect(signIn.rig.store.state.withLock { $0.pendingNames[anna]?.text } == "Anna")
    #expect(signIn.rig.store.state.withLock { $0.sessions.isEmpty && $0.accounts.isEmpty })
    try await signIn.rig.stop()
  }

  @Test("A verified sign-in creates a session, and ends those of its state and of the browser's cookies")
  func completed() async throws {
    let signIn = try await SignInRig()
    let (old, _) = try signIn.rig.signIn("002.bob")
    let (_, cookie) = try signIn.rig.signIn("003.carla")
    let state = signIn.begin(replacing: old.session.handle)
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let completion = try await signIn.verification.complete(
      signIn.grant(of: state, user: "001.anna", givenName: "Anna"), of: state, signIn.request([cookie]))
    let account = completion.session.snapshot.account
    #expect(account.subject.text == "001.anna" && account.name?.text == "Anna")
    let handles = signIn.rig.store.state.withLock { Array($0.sessions.keys) }
    #expect(handles == [completion.session.identifier.handle])
    #expect(!completion.endsPendingName && signIn.rig.metrics.signIns.total("success") == 1)
    try await signIn.rig.stop()
  }

  @Test("A sign-in that the store does not complete ends no session of the browser")
  func notCompleted() async throws {
    let signIn = try await SignInRig()
    let (old, _) = try signIn.rig.signIn("002.bob")
    let (other, cookie) = try signIn.rig.signIn("003.carla")
    let state = signIn.begin(replacing: old.session.handle)
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    signIn.rig.store.state.withLock { $0.failures["complete"] = StoreError(code: .interrupted, message: "gone") }
    let grant = try signIn.grant(of: state, user: "001.anna")
    let error = await #expect(throws: SignInError.self) {
      _ = try await signIn.verification.complete(grant, of: state, signIn.request([cookie]))
    }
    #expect(error?.page == .storeUnavailable)
    let handles = signIn.rig.store.state.withLock { Set($0.sessions.keys) }
    #expect(handles == [old.session.handle, other.session.handle])
    #expect(signIn.rig.metrics.storeFailures.total("complete") == 1)
    try await signIn.rig.stop()
  }

  @Test("A user who is banned while signing in loses no session of the browser but the replaced one, and gets none")
  func bannedMeanwhile() async throws {
    let signIn = try await SignInRig()
    let (old, _) = try signIn.rig.signIn("002.bob")
    let (other, cookie) = try signIn.rig.signIn("003.carla")
    // The ban is not known before the account is written.
    let anna = try signIn.rig.signIn("001.anna").snapshot.account.subject
    let ban = Ban(until: nil, reason: nil, since: signIn.rig.clock.now, by: "cli")
    signIn.rig.store.state.withLock { state in
      state.sessions = state.sessions.filter { $0.value.subject != anna }
      state.accounts[anna]?.access.ban = ban
    }
    let state = signIn.begin(replacing: old.session.handle)
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let grant = try signIn.grant(of: state, user: "001.anna")
    let error = await #expect(throws: SignInError.self) {
      _ = try await signIn.verification.complete(grant, of: state, signIn.request([cookie]))
    }
    #expect(error?.page == .banned)
    #expect(signIn.rig.store.state.withLock { Array($0.sessions.keys) } == [other.session.handle])
    try await signIn.rig.stop()
  }

  @Test("A ban by an earlier subject refuses the first sign-in that it came too late to be seen by")
  func bannedByEarlierSubject() async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let ban = Ban(until: nil, reason: nil, since: signIn.rig.clock.now, by: "cli")
    signIn.rig.store.state.withLock { $0.banDuringSignIn = ban }
    let error = try await failure(signIn, signIn.grant(of: state, user: "001.anna"), of: state)
    #expect(error.page == .banned && error.reason == "banned")
    #expect(signIn.rig.store.state.withLock { $0.sessions.isEmpty && $0.bans.count == 1 })
    try await signIn.rig.stop()
  }

  @Test("A session that cannot be ended after a sign-in is one failed operation of the store, and is logged")
  func notEnded() async throws {
    let lines = RecordedLines()
    let signIn = try await SignInRig(
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["sessions"]) })
    let (old, _) = try signIn.rig.signIn("002.bob")
    let (other, cookie) = try signIn.rig.signIn("003.carla")
    let state = signIn.begin(replacing: old.session.handle)
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    signIn.rig.store.state.withLock { $0.failures["end"] = StoreError(code: .interrupted, message: "gone") }
    let completion = try await signIn.verification.complete(
      signIn.grant(of: state, user: "001.anna"), of: state, signIn.request([cookie]))
    let handles = signIn.rig.store.state.withLock { Set($0.sessions.keys) }
    #expect(handles == [completion.session.identifier.handle, other.session.handle])
    let failures = signIn.rig.metrics.storeFailures
    #expect(failures.total("end") == 1 && failures.total("complete") == 0)
    #expect(signIn.rig.metrics.signIns.total("success") == 1)
    let message = "signed in, but other sessions of the browser could not be ended"
    #expect(lines.take() == ["\(message) \(other.session.handle.text)"])
    try await signIn.rig.stop()
  }

  @Test("The sign-in of an app ends no session of the browser")
  func completedForApp() async throws {
    let signIn = try await SignInRig()
    let (_, cookie) = try signIn.rig.signIn("003.carla")
    let state = signIn.begin(try SignInRig.app())
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    _ = try await signIn.verification.complete(
      signIn.grant(of: state, user: "001.anna"), of: state, signIn.request([cookie]))
    #expect(signIn.rig.store.state.withLock { $0.sessions.count } == 2)
    try await signIn.rig.stop()
  }

  @Test("A name that an earlier sign-in has left in the browser is its owner's only", arguments: [true, false])
  func pendingName(isTheirs: Bool) async throws {
    let signIn = try await SignInRig()
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let name = try #require(PersonName(given: "Anna", family: nil))
    let owner = PendingDisplayName.Owner.subject(isTheirs ? "001.anna" : "002.bob")
    let setCookie = try PendingDisplayName(name, of: owner).setCookie(signIn.rig.keyring, now: .now)
    let completion = try await signIn.verification.complete(
      signIn.grant(of: state, user: "001.anna"), of: state,
      signIn.request([String(setCookie.prefix { $0 != ";" })]))
    #expect(completion.session.snapshot.account.name == (isTheirs ? name : nil))
    #expect(completion.endsPendingName == isTheirs)
    try await signIn.rig.stop()
  }

  @Test("A name left in the browser replaces no known one, not even while the store does not say whether there is one")
  func knownName() async throws {
    let signIn = try await SignInRig()
    let anna = try signIn.rig.signIn("001.anna").snapshot.account.subject
    let known = try #require(PersonName(given: "Anna", family: nil))
    signIn.rig.store.state.withLock { state in
      state.accounts[anna]?.name = known
      state.nextFailures["account"] = StoreError(code: .interrupted, message: "gone")
    }
    let kept = PendingDisplayName(try #require(PersonName(given: "Annette", family: nil)), of: .subject("001.anna"))
    let request = signIn.request([String(try kept.setCookie(signIn.rig.keyring, now: .now).prefix { $0 != ";" })])
    let first = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: first.nonce))
    let error = await #expect(throws: SignInError.self) {
      _ = try await signIn.verification.complete(signIn.grant(of: first, user: "001.anna"), of: first, request)
    }
    #expect(error?.page == .storeUnavailable && signIn.rig.metrics.storeFailures.total("account") == 1)
    #expect(signIn.rig.store.state.withLock { $0.accounts[anna]?.name } == known)
    let second = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: second.nonce))
    let completion = try await signIn.verification.complete(
      signIn.grant(of: second, user: "001.anna"), of: second, request)
    #expect(completion.session.snapshot.account.name == known)
    try await signIn.rig.stop()
  }
}
