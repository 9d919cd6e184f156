package import FoundationEssentials

/// The code of a request for access, which the user reads out to an operator: `K7QF-3MDP`. 40 random bits; it names the
/// request and gives no access.
package struct AccessRequestCode: Sendable, Hashable, CustomStringConvertible {
  /// Nine characters, in upper case.
  package let text: String

  /// Crockford's base 32, without the characters that are easily mistaken for one another: I, L, O, U.
  private static let alphabet = [UInt8](UInt8(ascii: "0")...UInt8(ascii: "9")) + Array("ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let count = 8

  /// A random code from the system's random source.
  package static func random() -> AccessRequestCode {
    var generator = SystemRandomNumberGenerator()
    return AccessRequestCode(letters: (0..<count).map { _ in alphabet[Int(generator.next() & 31)] })
  }

  /// As people type it: in either case, with or without the hyphen, `O` for `0`, `I` or `L` for `1`. Nil for anything
  /// else.
  package init?(_ typed: String) {
    var letters: [UInt8] = []
    for byte in typed.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
      let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
      let letter =
        switch upper {
        case UInt8(ascii: "O"): UInt8(ascii: "0")
        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
        default: upper
        }
      guard Self.alphabet.contains(letter), letters.count < Self.count else { return nil }
      letters.append(letter)
    }
    guard letters.count == Self.count else { return nil }
    self.init(letters: letters)
  }

  private init(letters: [UInt8]) {
    text = String(decoding: letters.prefix(4) + [UInt8(ascii: "-")] + letters.dropFirst(4), as: UTF8.self)
  }

  package var description: String { text }
}

/// A signed-in user's request for access, which waits for an operator. At most one for each user.
package struct AccessRequest: Sendable, Equatable {
  /// The code that the user reads out.
  package let code: AccessRequestCode
  /// The user.
  package let subject: Subject
  /// The time of the first request.
  package let asked: Date

  /// The time after which it is removed.
  package static let lifetime = Duration.seconds(30 * 86_400)
  /// The largest number of open requests.
  package static let mostOpen = 10_000

  /// Requests that were made at this moment or earlier have expired.
  package static func expiredUntil(_ now: Date) -> Date { now.advanced(by: .zero - lifetime) }

  /// A request as a store keeps it.
  package init(code: AccessRequestCode, subject: Subject, asked: Date) {
    self.code = code
    self.subject = subject
    self.asked = asked
  }
}

/// The outcome of asking for access.
package enum AccessRequestOutcome: Sendable, Equatable {
  /// It waits; the same request as before if the user had asked already.
  case waits(AccessRequest)
  /// The user is banned.
  case banned
  /// There are ``AccessRequest/mostOpen`` open requests.
  case tooMany
}
