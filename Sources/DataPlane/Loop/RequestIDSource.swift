internal import HTTPWire
internal import NIOCore

/// Makes the identifiers of requests: 16 hexadecimal digits that the loop drew at its start, and 16 that count.
package struct RequestIDSource {
  private let prefix = UInt64.random(in: .min ... .max)
  private var counter = UInt64.random(in: 0...0xFFFF_FFFF)

  mutating func next() -> Identifier {
    counter &+= 1
    return Identifier(high: prefix, low: counter)
  }

  /// `X-Request-Id`, as two numbers until its text is needed.
  package struct Identifier: Sendable, CustomStringConvertible {
    var high: UInt64
    var low: UInt64
    /// The request ID of a trusted proxy; it replaces the numbers.
    var given: [UInt8]?

    /// The identifier that a proxy gave, if it is one: 1 to 64 token characters (RFC 9110, 5.6.2). Anything else could
    /// be delimited neither in a log nor in a header field.
    static func wellFormed(_ bytes: RawSpan, _ value: Range<Int>) -> [UInt8]? {
      guard (1...64).contains(value.count), value.allSatisfy({ CharacterClass.token.contains(bytes.byte(at: $0)) })
      else { return nil }
      return bytes.array(value)
    }

    package var description: String {
      var buffer = ByteBuffer()
      write(to: &buffer)
      return String(buffer: buffer)
    }
  }
}
