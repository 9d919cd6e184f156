import Testing

@testable import Sessions

@Suite("The names of the gateway's cookies")
struct CookieNamesTests {
  private func problem(_ name: String) -> CookieNameError? {
    do throws(CookieNameError) {
      _ = try CookieNames(session: name)
      return nil
    } catch {
      return error
    }
  }

  @Test("The standard names are those of the first version")
  func standard() {
    let names = CookieNames.standard
    #expect(names.session == "__Host-cordon" && names.sessionBytes == Array("__Host-cordon".utf8))
    #expect(names.attempts == "__Host-cordon-attempt-" && names.visits == "__Host-cordon-visit-")
    #expect(names.lastAccount == "__Host-cordon-last" && names.displayName == "__Host-cordon-name")
    #expect(names.sessionClearing == "__Host-cordon=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0")
  }

  @Test("All names follow from that of the session cookie", arguments: ["__Host-cordon-2", "__Host-w", "__Host-a.b_c"])
  func following(_ name: String) throws {
    let names = try CookieNames(session: name)
    let all = [names.attempts, names.visits, names.lastAccount, names.displayName]
    #expect(all.allSatisfy { $0.hasPrefix(name + "-") } && Set(all).count == 4)
  }

  @Test(
    "A name that browsers, applications or other gateways would misunderstand is refused",
    arguments: [
      ("cordon", CookieNameError.form), ("__Host-", .form), ("__host-wiki", .form), ("__Secure-wiki", .form),
      ("__Host-a b", .form), ("__Host-a=b", .form), ("__Host-a;b", .form), ("__Host-é", .form), ("", .form),
      ("__Host-" + String(repeating: "a", count: 58), .form), ("__Host-cordon2", .besideStandard),
      ("__Host-Cordon", .besideStandard), ("__Host-CORDON-2", .besideStandard),
      ("__Host-cordon-last", .ofAnotherCookie), ("__Host-cordon-attempt-1", .ofAnotherCookie),
      ("__Host-wiki-Name", .ofAnotherCookie), ("__Host-visit", .ofAnotherCookie),
    ])
  func refused(_ name: String, _ expected: CookieNameError) { #expect(problem(name) == expected) }
}
