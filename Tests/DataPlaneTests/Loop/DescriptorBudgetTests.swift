import Testing

@testable import DataPlane

@Suite("The budget of descriptors")
struct DescriptorBudgetTests {
  @Test("A reserve stays free, a share of a limit that is small")
  func shares() {
    let usual = DescriptorBudget.Shares(limit: 65_536, others: 30, sockets: 3)
    #expect(usual.reserve == 76)
    #expect(usual.shared == 65_536 - 30 - 76)
    let small = DescriptorBudget.Shares(limit: 64, others: 30, sockets: 3)
    #expect(small.reserve == 16)
    #expect(small.shared == 18)
    #expect(DescriptorBudget.Shares(limit: 16, others: 30).shared == 4)
  }

  @Test("Neither clients nor upstream connections take all descriptors, and none takes the reserve")
  func exhaustion() {
    let budget = DescriptorBudget(limit: 400, others: 36)
    func takeAll(_ use: DescriptorBudget.Use) -> Int {
      var count = 0
      while count < 1_000, budget.take(use) { count += 1 }
      return count
    }
    #expect(takeAll(.client) == 225)
    #expect(takeAll(.upstream) == 75)
    #expect(budget.room(for: .client) == 0)
    #expect(budget.refusals == 2)
    #expect(takeAll(.own) == 16)
    #expect(takeAll(.administration) == 16)
    budget.give(.client)
    #expect(!budget.take(.client))
    for _ in 0..<16 {
      budget.give(.own)
      budget.give(.administration)
    }
    #expect(budget.take(.client))
    #expect(!budget.take(.client))
  }
}
