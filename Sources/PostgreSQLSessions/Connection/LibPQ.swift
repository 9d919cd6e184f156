import CPostgreSQL
import Sessions

/// libpq, loaded when the first server address is parsed, so that a gateway with another store neither needs it nor
/// loads its dependencies.
enum LibPQ {
  /// - Throws: `StoreError` if libpq is not installed.
  static func load() throws(StoreError) {
    if let reason = loaded.failure {
      throw StoreError(
        code: .misconfigured,
        message: "PostgreSQL needs libpq, which cannot be loaded (\(reason)); on Debian, install the package libpq5")
    }
  }

  fileprivate static let loaded: (functions: cordon_libpq, failure: String?) = {
    var functions = cordon_libpq()
    let failure = cordon_libpq_load(&functions).map { String(cString: $0) }
    return (functions, failure)
  }()
}

/// libpq's functions, under their own names. To be called only with a ``ServerAddress``, which has loaded libpq.
var pq: cordon_libpq { LibPQ.loaded.functions }
