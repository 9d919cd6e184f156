import AccessPolicy
import FoundationEssentials
import HTTPTypes
import Secrets
import Sessions
import Testing
import WebFormats

@testable import Gateway

// One attempt to sign in, as its cookie carries it: only this browser, only this attempt, only ten minutes.
@Suite("The state of a sign-in")
struct SignInStateTests {
  private let now: Int64 = 1_700_000_000_000

  private func keyring() throws -> SessionKeyring {
    try SessionKeyring(secrets: [SessionSecret(Array(repeating: 7, count: 32))])
  }

  /// The cookies that a browser sends after this `Set-Cookie`, under a name of the test's choice.
  private func cookies(_ setCookie: String, name: String? = nil) throws -> RequestCookies {
    let pair = String(try #require(setCookie.split(separator: ";").first))
    let value = String(try #require(pair.split(separator: "=", maxSplits: 1).last))
    let sent = name.map { "\(CookieNames.standard.attempts)\($0)=\(value)" } ?? pair
    return RequestCookies([.cookie: "theme=dark; \(sent)"])
  }

  @Test("The state of a sign-in comes back from its cookie as it was, and knows its own state only")
  func roundTrip() throws {
    let keyring = try keyring()
    let replaced = SessionIdentifier.random().handle
    let address = Array("com.example.app:/in?a=1".utf8)
    let app = try #require(AppReturnTarget(parsing: address, schemes: ["com.example.app"]))
    let visit = HostVisit(
      host: "wiki.example.com", secret: "s".utf8, returnTo: "/a?b=c", maxAge: 60,
      began: Date(millisecondsSince1970: now))
    let destinations = [
      .page("/a?b=c"), SignInState.Destination.app(app, challenge: Array(repeating: 9, count: 32)), .host(visit),
    ]
    for (handle, destination) in zip(
      [nil, replaced, nil, replaced, nil, replaced], destinations + destinations.reversed())
    {
      let attempt = SignInState(to: destination, replacing: handle, now: now)
      let sent = try cookies(try attempt.setCookie(keyring))
      #expect(try SignInState.open(attempt.identifier, in: sent, keyring, now: now + 1) == attempt)
      #expect(SignInState.identifier(inState: attempt.state) == attempt.identifier)
      #expect(attempt.isMeant(by: attempt.state))
      let other = SignInState(to: destination, replacing: handle, now: now)
      #expect(!attempt.isMeant(by: other.state) && !attempt.isMeant(by: attempt.identifier + other.secret))
    }
  }

  @Test("The cookie of a sign-in opens under no other identifier, and after ten minutes as an expired one, for an hour")
  func bound() throws {
    let keyring = try keyring()
    let attempt = SignInState(to: .page("/"), replacing: nil, now: now)
    let setCookie = try attempt.setCookie(keyring)
    let other = SignInState(to: .page("/"), replacing: nil, now: now).identifier
    let swapped = try cookies(setCookie, name: other)
    #expect(throws: SealError.refused) { try SignInState.open(other, in: swapped, keyring, now: now) }
    let sent = try cookies(setCookie)
    #expect(throws: SealError.expired) {
      try SignInState.open(attempt.identifier, in: sent, keyring, now: now + SignInState.lifetime)
    }
    for age in [SignInState.lifetime, 3_599_999] {
      #expect(try SignInState.openKept(attempt.identifier, in: sent, keyring, now: now + age) == attempt)
    }
    #expect(throws: SealError.expired) {
      try SignInState.openKept(attempt.identifier, in: sent, keyring, now: now + 3_600_000)
    }
    #expect(try SignInState.open(other, in: sent, keyring, now: now) == nil)
  }

  @Test("The state of a sign-in says whether another site began it, has no long path then, and can end another session")
  func crossSite() throws {
    let keyring = try keyring()
    let long = "/" + String(repeating: "a", count: SignInState.longestCrossSitePath)
    for (path, isCrossSite, kept) in [("/a", true, "/a"), (long, true, "/"), (long, false, long)] {
      let begun = SignInState(to: .page(path), replacing: nil, isCrossSite: isCrossSite, now: now)
      let later = SessionIdentifier.random().handle
      let attempt = begun.replacing(later, keepsPath: true)
      #expect(attempt.returnTo == kept && attempt.isCrossSite == isCrossSite && attempt.replacing == later)
      #expect(attempt.state == begun.state && attempt.expires == begun.expires)
      #expect(begun.replacing(later, keepsPath: false).returnTo == "/")
      #expect(begun.toFrontPage.returnTo == "/" && begun.toFrontPage.state == begun.state)
      let setCookie = try attempt.setCookie(keyring, age: 60_000)
      #expect(setCookie.hasSuffix("; Max-Age=3540"))
      #expect(try SignInState.open(attempt.identifier, in: cookies(setCookie), keyring, now: now + 1) == attempt)
    }
    // A clock that was set back or far ahead makes no odd age.
    let attempt = SignInState(to: .page("/"), replacing: nil, now: now)
    #expect(try attempt.setCookie(keyring, age: -5).hasSuffix("; Max-Age=3600"))
    #expect(try attempt.setCookie(keyring, age: .max).hasSuffix("; Max-Age=0"))
  }

  @Test("The identifiers of attempts are told once each, and only those that could be ours")
  func identifiers() {
    let prefix = CookieNames.standard.attempts
    let name = "0123456789abcdef"
    let cookies = RequestCookies([
      .cookie: "\(prefix)\(name)=a; \(prefix)\(name)=b; \(prefix)\(name.uppercased())=c; \(prefix)x=d; theme=dark"
    ])
    #expect(SignInState.identifiers(in: cookies, .standard) == [name])
    let flood = (0..<800).map { "\(prefix)\(Hex.text(withUnsafeBytes(of: UInt64($0)) { Array($0) }))=" }
    let flooded = RequestCookies([.cookie: flood.joined(separator: "; ")])
    #expect(SignInState.identifiers(in: flooded, .standard).count == RequestCookies.mostAlike)
  }

  @Test(
    "A value that is not one of our states names no sign-in", arguments: ["", "a", String(repeating: "g", count: 48)])
  func foreignState(_ state: String) { #expect(SignInState.identifier(inState: state) == nil) }
}
