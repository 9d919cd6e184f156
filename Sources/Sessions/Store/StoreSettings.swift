/// Settings of the session store (`[store]` of the configuration).
package struct StoreSettings: Sendable, Equatable {
  /// The kind and the location of the store.
  package var location: Location
  /// The outage grace: how long cached sessions go on while the store is unavailable. Default: 10 min.
  package var outageGrace: Duration = .seconds(600)

  /// PostgreSQL: the largest number of connections of this gateway, without the one for notifications. Default: 8.
  package var connections = 8
  /// PostgreSQL: whether changes are announced by `NOTIFY`, in addition to polling once a second. Default: true.
  package var notifies = true

  /// A store at a location, with defaults for everything else.
  package init(location: Location) { self.location = location }

  /// The location of the store.
  package enum Location: Sendable, Equatable {
    /// `sqlite:`: the absolute path of the database file.
    case sqlite(path: String)
    /// `postgresql://…`: a libpq connection string.
    case postgreSQL(String)
  }
}
