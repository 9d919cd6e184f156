import Foundation
import WebFormats

@testable import AppleIdentity

extension Invariant {
  /// Accepted JSON is JSON to Foundation too, and has the same values when it is written and read again. A submitted
  /// name results in visible text.
  static let json = Invariant("json") { bytes in
    if let user = try? SubmittedUser(json: bytes) { try requireNames(of: user) }
    guard let members = try? StrictJSON.object(bytes, maximumBytes: 16_384, maximumDepth: 16) else { return }
    let value = StrictJSON.object(members)
    try require(depth(of: value) <= 16, "it is \(depth(of: value)) deep")
    let again = try? StrictJSON.object(written(value), maximumBytes: 1_048_576, maximumDepth: 16)
    try require(again == members, "read again it is \(String(describing: again)), not \(members)")
    // Foundation reads a number beyond its range otherwise than we do, and ours is the narrower range.
    let theirs = try? JSONSerialization.jsonObject(with: Data(bytes))
    guard let object = theirs as? [String: Any] else { throw Violation(description: "taken by us only") }
    // A dictionary of Foundation's takes canonically equivalent names for one.
    try require(object.count <= members.count, "Foundation finds \(object.count) names")
  }

  private static func depth(of value: StrictJSON) -> Int {
    switch value {
    case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
    case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
    case .null, .bool, .integer, .number, .string: 0
    }
  }

  /// The value as JSON, every character of its texts escaped.
  private static func written(_ value: StrictJSON) -> [UInt8] {
    switch value {
    case .null: Array("null".utf8)
    case .bool(let flag): Array((flag ? "true" : "false").utf8)
    case .integer(let number): Array(String(number).utf8)
    case .number(let number): Array("\(number)".utf8)
    case .string(let text): escaped(text)
    case .array(let elements): [0x5B] + elements.map(written).joined(separator: [0x2C]) + [0x5D]
    case .object(let members):
      [0x7B] + members.map { escaped($0.key) + [0x3A] + written($0.value) }.joined(separator: [0x2C]) + [0x7D]
    }
  }

  private static func escaped(_ text: String) -> [UInt8] {
    var result: [UInt8] = [0x22]
    for unit in text.utf16 {
      let digits = String(unit, radix: 16)
      result += Array("\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8)
    }
    return result + [0x22]
  }
}
