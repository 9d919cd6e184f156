/// The cache key of a verified cookie, instead of the cookie itself: 64 bits of a hash of the whole, keyed at random
/// for each process, and 96 bits of its signature, so that it cannot be guessed. For memory only, never stored.
package struct CookieFingerprint: Sendable, Hashable {
  let hash: UInt64
  /// The last 16 characters, which are the signature's.
  let tail: SIMD2<UInt64>

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// The fingerprint is a keyed hash already, and serves as the hash in a table.
  package func _rawHashValue(seed: Int) -> Int { Int(truncatingIfNeeded: hash) ^ seed }
}

/// Makes fingerprints, all by one key.
package struct CookieFingerprinter: Sendable {
  private let key: SIMD4<UInt64>

  /// Uses a random key from the system's random source.
  package init() {
    var generator = SystemRandomNumberGenerator()
    key = SIMD4.random(in: 0 ... .max, using: &generator)
  }

  /// The fingerprint of a cookie's value on a host: another one on every other host. Costs less than looking a string
  /// up in a dictionary.
  ///
  /// Folded products of 64 bits with secret operands (as in wyhash). Only verified cookies are cached, and a cookie is
  /// taken for another one only if it ends in the same 96 bits of signature as well. To search for equal hashes, an
  /// attacker would need that cookie first.
  package func fingerprint(
    _ value: UnsafeRawBufferPointer, on scope: CookieScope = .publicURL
  ) -> CookieFingerprint {
    var hash = add(value, to: key.x)
    if !scope.authority.isEmpty { hash = scope.authority.withUnsafeBytes { add($0, to: hash) } }
    let size = MemoryLayout<SIMD2<UInt64>>.size
    let tail =
      value.count < size ? .zero : value.loadUnaligned(fromByteOffset: value.count - size, as: SIMD2<UInt64>.self)
    return CookieFingerprint(hash: hash, tail: tail)
  }

  /// The hash of what came before and of `bytes`, with their number.
  private func add(_ bytes: UnsafeRawBufferPointer, to before: UInt64) -> UInt64 {
    var hash = before
    var offset = 0
    while offset &+ 16 <= bytes.count {
      let pair = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt64>.self)
      hash = Self.fold(pair.x ^ key.y, pair.y ^ hash)
      offset &+= 16
    }
    // The rest in whole words where there is as much, overlapping with the words before.
    var rest = SIMD2<UInt64>.zero
    if offset < bytes.count, bytes.count >= 16 {
      rest = bytes.loadUnaligned(fromByteOffset: bytes.count &- 16, as: SIMD2<UInt64>.self)
    } else {
      for (place, byte) in bytes[offset...].enumerated() { rest[place / 8] |= UInt64(byte) << (8 * UInt64(place % 8)) }
    }
    hash = Self.fold(rest.x ^ key.z, rest.y ^ hash)
    return Self.fold(hash ^ key.w, UInt64(truncatingIfNeeded: bytes.count) ^ key.y)
  }

  @inline(__always)
  private static func fold(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let product = one.multipliedFullWidth(by: other)
    return product.high ^ product.low
  }
}
