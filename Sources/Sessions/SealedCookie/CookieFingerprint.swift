/// Remembers a verified cookie without keeping it: 128 bits by a hash that is keyed at random for each process, so that
/// nobody outside can look for two cookies with one fingerprint. For memory only, never written down.
public struct CookieFingerprint: Sendable, Hashable {
  let first: Int
  let second: Int
}

/// Makes fingerprints, all by one key.
public struct CookieFingerprinter: Sendable {
  private let firstKey: (UInt64, UInt64)
  private let secondKey: (UInt64, UInt64)

  /// By a key of its own from the system's random source.
  public init() {
    var generator = SystemRandomNumberGenerator()
    firstKey = (generator.next(), generator.next())
    secondKey = (generator.next(), generator.next())
  }

  /// The fingerprint of a cookie's value. Costs about as much as looking a string up in a dictionary.
  public func fingerprint(_ value: UnsafeRawBufferPointer) -> CookieFingerprint {
    CookieFingerprint(first: hash(value, firstKey), second: hash(value, secondKey))
  }

  /// The standard library's hash is SipHash-1-3 (Aumasson and Bernstein, 2012). Its own key can be fixed from outside the
  /// process for reproducible runs, so ours goes in first.
  private func hash(_ value: UnsafeRawBufferPointer, _ key: (UInt64, UInt64)) -> Int {
    var hasher = Hasher()
    hasher.combine(key.0)
    hasher.combine(key.1)
    hasher.combine(bytes: value)
    return hasher.finalize()
  }
}
