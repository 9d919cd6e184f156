/// Comparison of secrets whose duration does not depend on where they differ.
package enum ConstantTime {
  /// Whether two byte sequences are equal. The length is not kept secret.
  @inline(never)
  package static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
