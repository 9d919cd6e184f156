import Testing

@testable import Gateway

@Suite("Audit events of callers without a right")
struct RefusalAuditTests {
  @Test("Ten lines a minute, and the first of the next says how many were left out")
  func bounded() {
    let audit = RefusalAudit()
    #expect((0..<RefusalAudit.limit).map { audit.refused(at: Int64($0)) } == Array(repeating: 0, count: 10))
    for moment in 10..<1_000 { #expect(audit.refused(at: Int64(moment)) == nil) }
    #expect(audit.refused(at: 60_000) == 990)
    #expect(audit.refused(at: 60_001) == 0)
  }

  @Test("A clock that is set back does not silence it")
  func clock() {
    let audit = RefusalAudit()
    for _ in 0..<20 { _ = audit.refused(at: 1_000_000) }
    #expect(audit.refused(at: 0) == 10)
    #expect(audit.refused(at: .max) == 0)
    #expect(audit.refused(at: .min) == 0)
  }
}
