/// Small random numbers, in a few instructions (xorshift64*). Not for secrets.
struct QuickRandom {
  private var state: UInt64

  init(seed: UInt64) { state = seed == 0 ? 0x9E37_79B9_7F4A_7C15 : seed }

  @inline(__always)
  private mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  /// From 0 up to `bound`, not including it. `bound` is from 1 to 2^32.
  @inline(__always)
  mutating func number(below bound: Int) -> Int {
    Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(truncatingIfNeeded: bound)) >> 32)
  }

  /// From 0 up to 1, not including it.
  mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}
