/// Decisions by method, each row kept once.
struct RouteRows {
  private(set) var decisions: [RouteDecision] = []
  private(set) var table: [Int32] = []
  /// Numbers of methods.
  let stride: Int
  private var numbers: [RouteDecision: Int32] = [:]
  /// The number that was returned last.
  private var latest: Int32 = 0
  private var rows: [[Int32]: Int32] = [:]

  init(methods: Int) { stride = methods + 1 }

  /// The row of the numbers of decisions: one for every method, or one for all.
  mutating func add(_ row: [Int32]) -> Int32 {
    if let first = row.first, row.allSatisfy({ $0 == first }) { return first }
    if let known = rows[row] { return known }
    let number = ~Int32(rows.count)
    rows[row] = number
    table += row
    return number
  }

  /// The number of a row's decision for a method.
  func number(_ row: Int32, _ method: Int) -> Int32 { row >= 0 ? row : table[Int(~row) * stride + method] }

  /// The number of a decision.
  mutating func number(of decision: RouteDecision) -> Int32 {
    // Adjacent routes often have the same decision.
    if Int(latest) < decisions.count, decisions[Int(latest)] == decision { return latest }
    latest = numbers[decision] ?? Int32(decisions.count)
    if Int(latest) == decisions.count {
      numbers[decision] = latest
      decisions.append(decision)
    }
    return latest
  }
}
