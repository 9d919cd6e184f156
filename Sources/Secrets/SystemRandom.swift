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
