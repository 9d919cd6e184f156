/// Formats numbers for people, without Foundation's formatters.
enum StatusNumbers {
  /// A rate or a count: three digits or so.
  static func short(_ value: Double) -> String {
    guard value.isFinite, value >= 0 else { return "–" }
    switch value {
    case 0: return "0"
    case ..<10: return fixed(value, value < 0.1 ? 2 : 1)
    case ..<10_000: return grouped(UInt64(value.rounded()))
    case ..<10_000_000: return fixed(value / 1e3, value < 100_000 ? 1 : 0) + " k"
    default: return value < 1e15 ? fixed(value / 1e6, 1) + " M" : "many"
    }
  }

  /// A count without decimals.
  static func whole(_ value: Double) -> String {
    value >= 0 && value < 10 ? "\(Int(value.rounded()))" : short(value)
  }

  /// `1 failure`, `2 failures`.
  static func counted(_ count: some BinaryInteger, _ thing: String) -> String {
    "\(grouped(UInt64(clamping: count))) \(thing)\(count == 1 ? "" : "s")"
  }

  /// With thin spaces between groups of three.
  static func grouped(_ value: UInt64) -> String {
    let digits = Array("\(value)".utf8)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result += "\u{2009}" }
      result.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return result
  }

  static func latency(_ seconds: Double?) -> String {
    guard let seconds else { return "–" }
    if seconds < 1 { return fixed(seconds * 1e3, seconds < 0.01 ? 1 : 0) + " ms" }
    return fixed(seconds, 1) + " s"
  }

  static func percent(_ part: Double?) -> String {
    guard let part else { return "–" }
    return part == 0 ? "0 %" : fixed(part * 100, part < 0.1 ? 2 : 1) + " %"
  }

  /// A duration in its two largest units.
  static func duration(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 1e12)))
    let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    if hours > 0 { return "\(hours) h \(minutes) min" }
    return minutes > 0 ? "\(minutes) min \(whole % 60) s" : "\(whole) s"
  }

  static func bytes(_ count: UInt64) -> String { fixed(Double(count) / 1_048_576, 0) + " MiB" }

  private static func fixed(_ value: Double, _ decimals: Int) -> String {
    let unit = [1, 10, 100][decimals]
    let scaled = Int((value * Double(unit)).rounded())
    guard decimals > 0 else { return "\(scaled)" }
    let rest = "\(scaled % unit)"
    return "\(scaled / unit)." + String(repeating: "0", count: decimals - rest.utf8.count) + rest
  }
}
