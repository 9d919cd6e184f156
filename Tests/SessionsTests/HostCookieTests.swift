import Secrets
import Testing

@testable import Sessions

// The session cookie of a [[host]]: for that host only, whatever secret of the keyring signed it.
@Suite("The session cookie of a host")
struct HostCookieTests {
  private let wiki = CookieScope.host("wiki.example.com")
  private let tickets = CookieScope.host("tickets.example.com")

  @Test("A cookie proves its session on the host that it was signed for, and nothing on any other")
  func ownHost() throws {
    let keys = try keyring("a")
    let identifier = SessionIdentifier.random()
    let scopes = [CookieScope.publicURL, wiki, tickets, .host("wiki.example.com:8443"), .host("iki.example.com")]
    let cookies = scopes.map { keys.signedCookie(for: identifier, on: $0) }
    #expect(Set(cookies).count == scopes.count && cookies.allSatisfy { $0.utf8.count == SessionCookie.valueLength })
    for (cookie, signed) in zip(cookies, scopes) {
      for scope in scopes {
        let verified = keys.verifyCookie(Array(cookie.utf8), on: scope)
        #expect(verified?.identifier == (scope == signed ? identifier : nil), "\(signed) on \(scope)")
      }
    }
  }

  @Test("A cookie of an older secret is known on its host, to be issued again, and on no other")
  func olderSecret() throws {
    let identifier = SessionIdentifier.random()
    let cookie = Array(try keyring("a").signedCookie(for: identifier, on: wiki).utf8)
    let rotated = try keyring("b", "a")
    let verified = try #require(rotated.verifyCookie(cookie, on: wiki))
    #expect(verified.identifier == identifier && !verified.isSignedByCurrentKey)
    #expect(rotated.verifyCookie(cookie, on: tickets) == nil && rotated.verifyCookie(cookie, on: .publicURL) == nil)
    #expect(try keyring("b").verifyCookie(cookie, on: wiki) == nil)
  }

  @Test("A cookie with any bit changed is refused, and so is one whose version says that it is of public_url")
  func changedBits() throws {
    let keys = try keyring("a")
    let cookie = Array(keys.signedCookie(for: .random(), on: wiki).utf8)
    for index in cookie.indices {
      for bit in 0..<8 {
        var forged = cookie
        forged[index] ^= 1 << bit
        #expect(keys.verifyCookie(forged, on: wiki) == nil && keys.verifyCookie(forged, on: .publicURL) == nil)
      }
    }
  }

  @Test("A value has our form if it names one of our secrets, genuine or not, whatever host it is for")
  func ownForm() throws {
    let old = try keyring("a")
    let keys = try keyring("b", "a")
    func isInOurForm(_ value: [UInt8]) -> Bool { keys.isInOurForm(value.span.bytes) }
    for scope in [CookieScope.publicURL, wiki] {
      for ring in [keys, old] {
        let cookie = Array(ring.signedCookie(for: .random(), on: scope).utf8)
        #expect(isInOurForm(cookie))
        var forged = cookie
        forged[40] = forged[40] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        #expect(isInOurForm(forged), "its signature does not matter")
        #expect(!isInOurForm(Array(cookie[..<70])) && !isInOurForm(cookie + [cookie[0]]) && !isInOurForm([]))
        var otherVersion = cookie
        otherVersion[0] = UInt8(ascii: "D")
        #expect(!isInOurForm(otherVersion))
        var otherSpelling = cookie
        // Two bits of the last character are of no byte, and must be zero.
        otherSpelling[70] = UInt8(ascii: "_")
        #expect(!isInOurForm(otherSpelling))
      }
      let unknown = try keyring("c").signedCookie(for: .random(), on: scope)
      #expect(!isInOurForm(Array(unknown.utf8)), "no secret of ours made it")
    }
  }

  @Test("The fingerprint of a cookie is another one on every host")
  func fingerprints() throws {
    let maker = CookieFingerprinter()
    let cookie = Array(try keyring("a").signedCookie(for: .random(), on: wiki).utf8)
    let prints = [CookieScope.publicURL, wiki, tickets].map { scope in
      cookie.withUnsafeBytes { maker.fingerprint($0, on: scope) }
    }
    #expect(Set(prints).count == 3)
    #expect(cookie.withUnsafeBytes { maker.fingerprint($0, on: wiki) } == prints[1])
  }
}
