/// A number with commas between groups of three digits: `1,234`.
func grouped(_ number: Int) -> String {
  let digits = Array(String(number))
  return String(
    digits.enumerated().flatMap { index, digit in
      index > 0 && (digits.count - index) % 3 == 0 ? [",", digit] : [digit]
    })
}

/// A number of things: `1 session`, `1,234 sessions`.
func counted(_ number: Int, _ noun: String) -> String { "\(grouped(number)) \(noun)\(number == 1 ? "" : "s")" }
