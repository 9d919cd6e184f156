import Sessions

extension StoreChangeFeed {
  /// The answer of ``StoreChangeFeed/lookForChanges(_:)``.
  var mayHaveChanged: Bool {
    get async {
      await withCheckedContinuation { continuation in lookForChanges { continuation.resume(returning: $0) } }
    }
  }
}
