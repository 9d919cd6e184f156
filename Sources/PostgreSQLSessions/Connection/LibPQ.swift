import CPostgreSQL
import Sessions

/// libpq, loaded when the first address of a server is read: a gateway that keeps its sessions elsewhere neither needs
/// it nor carries what it brings along.
enum LibPQ {
  /// - Throws: `StoreError` where it is not there.
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

/// libpq's functions, under their own names. Whoever has a ``ServerAddress`` may call them.
var pq: cordon_libpq { LibPQ.loaded.functions }
