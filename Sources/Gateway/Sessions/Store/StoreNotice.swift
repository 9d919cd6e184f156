internal import Sessions

/// An event of the session store's availability that is logged.
enum StoreNotice: Sendable, Equatable {
  /// It could not be opened at the start, with an error that was not logged before.
  case notOpened(StoreError)
  /// An outage has begun.
  case unavailable(operation: String, StoreError)
  /// The outage has ended.
  case available
  /// It can be read but not written.
  case notWritable(StoreError)
  /// It can be written again.
  case writable
  /// It answers, and what needs a permission fails.
  case permissionMissing(StoreError)
  /// It must not be used by this version.
  case refused(StoreError)
  /// It may be used by this version again.
  case compatible
  /// The outage grace is over: signed-in requests are no longer served. With the latest error.
  case graceEnded(StoreError?)
  /// Signed-in requests are served again.
  case serving
  /// One operation failed. The store is available.
  case operationFailed(String, StoreError)
}
