/// The label of a request in the gate's own terms, by which the observer counts and logs it. The data plane only
/// carries it from one to the other.
///
/// Made in another module for each request, for which its initializer has to be inlined there.
@usableFromInline
package struct RequestLabel: Sendable, Equatable {
  /// The label as a number.
  @usableFromInline package let number: Int

  /// The label of a request that was refused before the gate gave it one.
  package static let undecided = RequestLabel(number: -1)

  /// The label with this number.
  @inlinable @inline(__always)
  package init(number: Int) { self.number = number }
}
