/// Lifetime and secrets of sessions (`[session]` of the configuration).
package struct SessionSettings: Sendable, Equatable {
  /// Absolute paths of the secrets: the first signs and seals, all verify and open.
  package var secretFiles: [String]
  /// The names of the gateway's cookies. Default: `__Host-cordon` and what begins with it.
  package var cookies = CookieNames.standard
  /// The longest time from sign-in to the end. Default: 30 d.
  package var lifetime: Duration = .seconds(30 * 86_400)
  /// The time without a request after which a session ends. Default: 7 d.
  package var idleTimeout: Duration = .seconds(7 * 86_400)

  /// The kinds of data that a browser deletes when an account leaves it (`Clear-Site-Data`). Default: the cache.
  package var clearedData = [SiteData.cache]

  /// The memory of all session caches of this process, in bytes. Default: 128 MiB.
  package var memory = 128 << 20

  /// With the files of the secrets; the rest has its defaults.
  package init(secretFiles: [String]) { self.secretFiles = secretFiles }
}

/// A kind of data of a site that `Clear-Site-Data` names.
package enum SiteData: String, Sendable, CaseIterable {
  /// The browser's cache.
  case cache
  /// Local storage, databases and service workers.
  case storage
}
