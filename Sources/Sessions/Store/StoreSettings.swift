/// Where accounts and sessions are kept (`[store]` of the configuration).
package struct StoreSettings: Sendable, Equatable {
  /// Which store.
  package var location: Location
  /// How long sessions in memory go on while the store is away. Default: 10 min.
  package var outageGrace: Duration = .seconds(600)

  /// PostgreSQL: most connections of this gateway, beside the one it listens on. Default: 8.
  package var connections = 8
  /// PostgreSQL: whether ended sessions are told by `NOTIFY`, instead of being looked for once a second only. Default:
  /// yes.
  package var notifies = true

  /// A store at a place; the rest has its defaults.
  package init(location: Location) { self.location = location }

  /// Which store.
  package enum Location: Sendable, Equatable {
    /// `sqlite:`: the absolute path of the database file.
    case sqlite(path: String)
    /// `postgresql://…`: a libpq connection string.
    case postgreSQL(String)
  }
}
