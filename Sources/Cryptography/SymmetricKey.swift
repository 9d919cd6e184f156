/// The bytes of a secret key. A value cannot be printed.
package struct SymmetricKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The key itself. Keep it out of logs, error messages and pages.
  package let exposedBytes: [UInt8]

  /// A key of these bytes.
  package init(_ bytes: some Sequence<UInt8>) { exposedBytes = Array(bytes) }

  package var description: String { "[secret]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The system's random source, used for all secrets.
package enum SystemRandom {
  /// Random bytes.
  package static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let number: UInt64 = generator.next()
      withUnsafeBytes(of: number) { bytes += $0.prefix(count - bytes.count) }
    }
    return bytes
  }
}
