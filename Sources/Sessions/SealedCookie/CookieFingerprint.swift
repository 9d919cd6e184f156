/// Remembers a verified cookie without keeping it: 64 bits by a hash of the whole, keyed at random for each process, so
/// that an attacker cannot search for two cookies with one fingerprint, and 96 bits of its signature, so that guessing
/// is pointless. For memory only, never written down.
package struct CookieFingerprint: Sendable, Hashable {
  let hash: Int
  /// The last 16 characters, which are the signature's.
  let tail: SIMD2<UInt64>

  /// The fingerprint is a hash already, and serves as the hash in a table.
  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// Makes fingerprints, all by one key.
package struct CookieFingerprinter: Sendable {
  private let key: (UInt64, UInt64)

  /// By a key of its own from the system's random source.
  package init() {
    var generator = SystemRandomNumberGenerator()
    key = (generator.next(), generator.next())
  }

  /// The fingerprint of a cookie's value on a host: another one on every other host. Costs about as much as looking a
  /// string up in a dictionary.
  ///
  /// The standard library's hash is SipHash-1-3 (Aumasson and Bernstein, 2012). Its own key can be fixed from outside
  /// the process for reproducible runs, so ours goes in first.
  package func fingerprint(
    _ value: UnsafeRawBufferPointer, on scope: CookieScope = .publicURL
  ) -> CookieFingerprint {
    var hasher = Hasher()
    hasher.combine(key.0)
    hasher.combine(key.1)
    hasher.combine(bytes: value)
    if !scope.authority.isEmpty { scope.authority.withUnsafeBytes { hasher.combine(bytes: $0) } }
    let size = MemoryLayout<SIMD2<UInt64>>.size
    let tail =
      value.count < size ? .zero : value.loadUnaligned(fromByteOffset: value.count - size, as: SIMD2<UInt64>.self)
    return CookieFingerprint(hash: hasher.finalize(), tail: tail)
  }
}
