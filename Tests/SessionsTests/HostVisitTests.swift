import Foundation
import Secrets
import Testing

@testable import Sessions

// The sealed values of a hand-over: only ours, only for their time, only for the browser that began the visit.
@Suite("A visit from another host, and its arrival")
struct HostVisitTests {
  private func visit(returnTo: String = "/page?a=b", maxAge: Int? = 3_600) -> HostVisit {
    HostVisit(host: "wiki.example.com", secret: "the secret".utf8, returnTo: returnTo, maxAge: maxAge, began: noon)
  }

  @Test("A visit opens unchanged, by its own keys only", arguments: [3_600, 0, nil])
  func roundTrip(maxAge: Int?) throws {
    let visit = visit(maxAge: maxAge)
    let sealed = Array(try keyring("a").sealVisit(visit).utf8)
    let opened = try keyring("b", "a").openVisit(sealed)
    #expect(opened == visit && opened.host == "wiki.example.com" && opened.returnTo == "/page?a=b")
    #expect(opened.maxAge == maxAge && opened.began == noon)
    #expect(throws: SealError.self) { try keyring("b").openVisit(sealed) }
    #expect(throws: SealError.refused) { try keyring("a").openVisit(sealed.dropLast()) }
    #expect(opened.returning(to: "/").returnTo == "/" && opened.returning(to: "/").host == visit.host)
  }

  @Test("A visit is over after ten minutes, and so is one from a future as far away")
  func lifetime() {
    let visit = visit()
    #expect(!visit.isOver(at: noon) && !visit.isOver(at: noon + 599) && visit.isOver(at: noon + 600))
    #expect(!visit.isOver(at: noon - 599) && visit.isOver(at: noon - 600))
  }

  @Test("The code of an arrival opens unchanged, says when it expires, and is proved by the visit's secret only")
  func arrival() throws {
    let identifier = SessionIdentifier.random()
    let arrival = HostArrival(of: identifier, by: visit(), now: noon)
    let code = Array(try keyring("a").sealArrival(arrival).utf8)
    let opened = try keyring("b", "a").openArrival(code)
    #expect(opened == arrival && opened.identifier == identifier && opened.expires == noon + 60)
    #expect(opened.host == "wiki.example.com" && opened.returnTo == "/page?a=b")
    #expect(opened.isProved(by: "the secret".utf8))
    for other in ["", "the secret ", "another secret"] { #expect(!opened.isProved(by: other.utf8)) }
    #expect(throws: SealError.self) { try keyring("b").openArrival(code) }
    for index in code.indices {
      var forged = code
      forged[index] ^= 1
      #expect(throws: SealError.self) { try keyring("a").openArrival(forged) }
    }
  }

  @Test("A visit is not a code, and a code is not a visit")
  func purposes() throws {
    let keys = try keyring("a")
    let code = Array(try keys.sealArrival(HostArrival(of: .random(), by: visit(), now: noon)).utf8)
    #expect(throws: SealError.refused) { try keys.openVisit(code) }
    #expect(throws: SealError.refused) { try keys.openArrival(Array(keys.sealVisit(visit()).utf8)) }
  }

  @Test("Bytes that are cut anywhere before the path are not a visit")
  func cut() {
    let visit = visit(returnTo: "")
    for count in 0..<visit.bytes.count { #expect(HostVisit(bytes: visit.bytes.prefix(count)) == nil) }
    #expect(HostVisit(bytes: visit.bytes) == visit)
  }
}
