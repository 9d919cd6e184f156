import AppleIdentity
import Crypto
import FoundationEssentials
import Synchronization
import Testing
import WaitingTesting

/// Off, until a test turns it on.
private final class Switch: Sendable {
  private let state = Atomic<Bool>(false)
  var isOn: Bool { state.load(ordering: .relaxed) }
  func turnOn() { state.store(true, ordering: .relaxed) }
}

@Suite("Apple's keys")
struct KeySetTests {
  private let second = SigningKey.elliptic("APPLEKEY02")

  private func fetches(_ fixture: Fixture) -> Int {
    fixture.apple.requests(to: "/auth/keys").count
  }

  @Test("Apple's keys are fetched once for many tokens")
  func cached() async throws {
    let fixture = try Fixture()
    for _ in 0..<20 { #expect(await fixture.rejection(try fixture.token()) == nil) }
    #expect(fetches(fixture) == 1)
    let request = try #require(fixture.apple.requests(to: "/auth/keys").first)
    #expect(request.description == "GET https://appleid.apple.com/auth/keys")
    #expect(request.body.isEmpty)
  }

  @Test("A set that is reached in another way keeps its keys and their age, and fetches in the new way only")
  func otherTransport() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    let other = FakeApple()
    other.answer("/auth/keys", .json(jwks(try second.jwk())))
    let next = try AppleIdentityProvider(
      settings: fixture.settings, key: ClientSecretKey(pem: fixture.clientKey.pemRepresentation.utf8),
      transport: other.transport, clock: fixture.clock.read,
      keySet: await fixture.provider.keySet.reached(by: other.transport))
    func rejection(_ token: UnverifiedIdentityToken) async -> IdentityTokenError? {
      do throws(IdentityTokenError) {
        _ = try await next.verifier.verify(token, audiences: ["com.example.web"], nonce: .web("n-1"), from: .verified)
        return nil
      } catch {
        return error
      }
    }
    #expect(await rejection(try fixture.token()) == nil)
    #expect(other.requests(to: "/auth/keys").isEmpty)
    #expect(await rejection(try fixture.token(key: second)) == nil)
    #expect(other.requests(to: "/auth/keys").count == 1 && fetches(fixture) == 1)
  }

  @Test("A thousand unknown identifiers cause one fetch in a cool-down, and one more after it")
  func unknownIdentifiers() async throws {
    let fixture = try Fixture()
    for index in 0..<1000 {
      let token = try fixture.token(header: ["kid": "\"UNKNOWN\(index)\""])
      // After the first fetch, it is unknown whether Apple has such a key.
      let expected = index == 0 ? IdentityTokenError.unknownKey : .keysUnavailable(.coolingDown)
      #expect(await fixture.rejection(token) == expected)
    }
    #expect(fetches(fixture) == 1)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.clock.advance(59)
    let cooling = await fixture.rejection(try fixture.token(header: ["kid": #""UNKNOWN""#]))
    #expect(cooling == .keysUnavailable(.coolingDown) && cooling?.isAppleTrouble == true)
    #expect(fetches(fixture) == 1)
    fixture.clock.advance(1)
    #expect(await fixture.rejection(try fixture.token(header: ["kid": #""UNKNOWN""#])) == .unknownKey)
    #expect(fetches(fixture) == 2)
  }

  @Test(
    "Requests of strangers do not delay a rotated key for a proved sign-in, nor the other way round")
  func budgets() async throws {
    let fixture = try Fixture()
    func rejection(_ token: UnverifiedIdentityToken, _ source: TokenSource) async -> IdentityTokenError? {
      do throws(IdentityTokenError) {
        _ = try await fixture.provider.verifier.verify(
          token, audiences: ["com.example.web"], nonce: .web("n-1"), from: source)
        return nil
      } catch {
        return error
      }
    }
    let unknown = try fixture.token(header: ["kid": #""UNKNOWN""#])
    #expect(await rejection(unknown, .anonymous) == .unknownKey)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    let rotated = try fixture.token(key: second)
    #expect(await rejection(rotated, .anonymous) == .keysUnavailable(.coolingDown))
    #expect(await rejection(rotated, .verified) == nil)
    #expect(await rejection(rotated, .anonymous) == nil)
    // Proved attempts have a cool-down too, and a shorter one.
    #expect(await rejection(unknown, .verified) == .unknownKey)
    #expect(await rejection(unknown, .verified) == .keysUnavailable(.coolingDown))
    #expect(fetches(fixture) == 3)
    fixture.clock.advance(10)
    #expect(await rejection(unknown, .verified) == .unknownKey)
    #expect(await rejection(unknown, .anonymous) == .keysUnavailable(.coolingDown))
    fixture.clock.advance(50)
    #expect(await rejection(unknown, .anonymous) == .unknownKey)
    #expect(fetches(fixture) == 5)
  }

  @Test("The message about a cool-down says when Apple is asked again")
  func coolDownMessage() {
    let message = AppleKeySetError.coolingDown.message
    #expect(message.contains("for a sign-in in a browser they are fetched again after 10 s"), "\(message)")
    #expect(message.contains("for an app or a notification after 60 s"), "\(message)")
  }

  @Test("A thousand unknown identifiers at the same time cause one fetch")
  func unknownIdentifiersAtOnce() async throws {
    let fixture = try Fixture()
    let tokens = try (0..<1000).map { try fixture.token(header: ["kid": "\"UNKNOWN\($0)\""]) }
    let rejections = await withTaskGroup(of: IdentityTokenError?.self) { group in
      for token in tokens { group.addTask { await fixture.rejection(token) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    // On a busy machine, some ask only after the fetch, and do not learn whether Apple has their key.
    #expect(rejections.contains(.unknownKey))
    #expect(rejections.allSatisfy { $0 == .unknownKey || $0 == .keysUnavailable(.coolingDown) })
    #expect(fetches(fixture) == 1)
  }

  @Test("A caller that asks during a fetch waits for that fetch")
  func sharedFetch() async throws {
    let (stream, opener) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate(stream)
    let fixture = try Fixture(apple: FakeApple(gate: { await gate.wait() }))
    let token = try fixture.token()
    let rejections = (0..<20).map { _ in Task { await fixture.rejection(token) } }
    for _ in 0..<200 { await Task.yield() }
    opener.finish()
    for rejection in rejections { #expect(await rejection.value == nil) }
    #expect(fetches(fixture) == 1)
  }

  @Test("Callers that a fetch for another key has not helped share the next one")
  func sharedSecondFetch() async throws {
    let (stream, opener) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate(stream)
    let fixture = try Fixture(apple: FakeApple(gate: { await gate.wait() }))
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk())), .json(jwks(try second.jwk())))
    let unknown = try fixture.token(header: ["kid": #""UNKNOWN""#])
    let stranger = Task { await fixture.rejection(unknown) }
    try await eventually("the first fetch") { fetches(fixture) > 0 }
    let rotated = try fixture.token(key: second)
    let rejections = (0..<5).map { _ in
      Task {
        do throws(IdentityTokenError) {
          _ = try await fixture.provider.verifier.verify(
            rotated, audiences: ["com.example.web"], nonce: .web("n-1"), from: .verified)
          return IdentityTokenError?.none
        } catch {
          return error
        }
      }
    }
    for _ in 0..<200 { await Task.yield() }
    opener.finish()
    for rejection in rejections { #expect(await rejection.value == nil) }
    #expect(await stranger.value == .unknownKey)
    #expect(fetches(fixture) == 2)
  }

  @Test(
    "An answer without a usable key changes nothing",
    arguments: [
      "", "<html>", "[]", "{}", #"{"keys":[]}"#, #"{"keys":{}}"#, #"{"keys":[1,null,"x",{}]}"#, #"{"keys":null}"#,
      String(repeating: "[", count: 100_000),
    ])
  func uselessAnswer(body: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.apple.answer("/auth/keys", .json(body))
    let unknown = await fixture.rejection(try fixture.token(header: ["kid": #""UNKNOWN""#]))
    guard case .keysUnavailable(.unusable) = unknown else {
      Issue.record("\(String(describing: unknown))")
      return
    }
    #expect(fetches(fixture) == 2)
    #expect(await fixture.rejection(try fixture.token()) == nil)
  }

  @Test("An endless answer is not read")
  func hugeAnswer() async throws {
    let fixture = try Fixture()
    let padding = String(repeating: " ", count: 200_000)
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk()) + padding))
    let rejection = await fixture.rejection(try fixture.token())
    #expect(rejection == .keysUnavailable(.unusable("the JSON text is too long")))
  }

  @Test("While Apple is unreachable and no key is known, a token is refused as unverifiable, not as invalid")
  func unreachable() async throws {
    let fixture = try Fixture()
    let failure = AppleTransportError.notSent(reason: "connection refused")
    fixture.apple.answer("/auth/keys", .failure(failure))
    let rejection = await fixture.rejection(try fixture.token())
    #expect(rejection == .keysUnavailable(.unreachable(failure)))
    #expect(rejection?.isAppleTrouble == true)
    #expect(await fixture.rejection(try fixture.token()) == .keysUnavailable(.unreachable(failure)))
    #expect(fetches(fixture) == 1)
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk())))
    fixture.clock.advance(5)
    #expect(await fixture.rejection(try fixture.token()) == nil)
  }

  @Test("An Apple that is away for long is asked every five seconds, until it is back")
  func longAbsence() async throws {
    let fixture = try Fixture()
    fixture.apple.answer("/auth/keys", .failure(.notSent(reason: "connection refused")))
    for _ in 0..<20 {
      #expect(await fixture.rejection(try fixture.token()) != nil)
      fixture.clock.advance(5)
    }
    #expect(fetches(fixture) == 20)
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk())))
    #expect(await fixture.rejection(try fixture.token()) == nil)
  }

  @Test("An error status of the key set counts as a failure of Apple", arguments: [500, 503, 429, 404, 301])
  func errorStatus(status: Int) async throws {
    let fixture = try Fixture()
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk()), status: status))
    #expect(await fixture.rejection(try fixture.token()) == .keysUnavailable(.status(status)))
  }

  @Test("The key set is fetched again after a day, and stays in use if that fails")
  func oldSet() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.clock.advance(86_399)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(fetches(fixture) == 1)
    fixture.clock.advance(1)
    fixture.apple.answer("/auth/keys", .failure(.unanswered(reason: "time-out")))
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(fetches(fixture) == 2)
    fixture.clock.advance(600)
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(fetches(fixture) == 3)
    fixture.clock.advance(600)
    #expect(await fixture.rejection(try fixture.token()) == .unknownKey)
  }

  @Test(
    "While Apple does not answer, a held key of an old set is used at once, and the set is fetched beside that",
    .timeLimit(.minutes(5)))
  func oldSetWhileAppleHangs() async throws {
    let (stream, opener) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate(stream)
    let switches = Switch()
    let fixture = try Fixture(apple: FakeApple(gate: { if switches.isOn { await gate.wait() } }))
    #expect(await fixture.rejection(try fixture.token()) == nil)
    fixture.clock.advance(86_400)
    fixture.apple.answer("/auth/keys", .failure(.unanswered(reason: "time-out")))
    #expect(await fixture.rejection(try fixture.token()) == nil, "this one has waited")
    switches.turnOn()
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk())))
    fixture.clock.advance(60)
    for _ in 0..<5 { #expect(await fixture.rejection(try fixture.token()) == nil) }
    try await eventually("the fetch beside the checks") { fetches(fixture) >= 3 }
    #expect(await fixture.rejection(try fixture.token()) == nil)
    opener.finish()
    // The fetch that nobody waits for counts as any other: a key that Apple has withdrawn is used for the overlap.
    #expect(await fixture.rejection(try fixture.token(key: second)) == nil)
    #expect(fetches(fixture) == 3)
    fixture.clock.advance(600)
    #expect(await fixture.rejection(try fixture.token()) == .unknownKey)
  }

  @Test("A clock that is set back neither ages the set nor prolongs the cool-down")
  func clockSetBack() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(header: ["kid": #""UNKNOWN""#])) == .unknownKey)
    fixture.clock.advance(-1_000_000)
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(fetches(fixture) == 1)
    #expect(await fixture.rejection(try fixture.token(header: ["kid": #""UNKNOWN""#])) == .unknownKey)
    #expect(fetches(fixture) == 2)
  }

  @Test("The doctor gets the identifiers and Apple's date")
  func report() async throws {
    let fixture = try Fixture()
    let date = "Sat, 21 Nov 2026 08:00:00 GMT"
    fixture.apple.answer("/auth/keys", .json(jwks(try second.jwk(), try fixture.appleKey.jwk()), date: date))
    let report = try await fixture.provider.keySet.fetchNow()
    #expect(report.keyIdentifiers == ["APPLEKEY01", "APPLEKEY02"])
    #expect(report.date == date)
  }
}
