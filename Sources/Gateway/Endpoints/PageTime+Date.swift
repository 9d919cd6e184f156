internal import FoundationEssentials
internal import Pages
internal import Sessions

extension PageTime {
  /// An instant, to the second.
  init(_ instant: Date) { self.init(seconds: instant.millisecondsSince1970 / 1_000) }
}
