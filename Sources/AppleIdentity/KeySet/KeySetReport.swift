package import FoundationEssentials
internal import WebFormats

/// The report of `doctor` about the key set.
package struct KeySetReport: Sendable, Equatable {
  /// The identifiers of the keys (`kid`), in the order of the set.
  package let keyIdentifiers: [String]
  /// The field `Date` of Apple's answer.
  package let date: String?

  /// The difference of our clock to Apple's, in seconds; positive if ours is ahead, `nil` if Apple sent no time.
  /// More than a minute ahead, and Apple may find our secrets issued in the future; more than a minute behind, and we
  /// find Apple's tokens so.
  package func clockDifference(at now: Date) -> TimeInterval? {
    date.flatMap { HTTPDate.parse($0.utf8) }.map { now.timeIntervalSince1970 - Double($0) }
  }
}
