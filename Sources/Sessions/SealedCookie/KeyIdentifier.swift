/// The identifier of a key, which reveals nothing of it: 32 bits derived from the secret.
package struct KeyIdentifier: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The form in cookies and sealed values.
  package let number: UInt32

  /// The identifier with this number.
  package init(number: UInt32) { self.number = number }

  /// From the first four of the bytes, of which there must be that many.
  init(bigEndian bytes: UnsafeRawBufferPointer) {
    number = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
  }

  var bytes: [UInt8] { number.bigEndianBytes }

  package static func < (left: KeyIdentifier, right: KeyIdentifier) -> Bool { left.number < right.number }

  /// Eight hexadecimal digits.
  package var description: String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
