/// Where accounts and sessions are kept (`[store]` of the configuration).
public struct StoreSettings: Sendable, Equatable {
  /// Which store.
  public var location: Location
  /// How long sessions in memory go on while the store is away. Default: 10 min.
  public var outageGrace: Duration = .seconds(600)

  public init(location: Location) { self.location = location }

  /// Which store.
  public enum Location: Sendable, Equatable {
    /// `sqlite:`: the absolute path of the database file.
    case sqlite(path: String)
    /// `postgresql://…`: a libpq connection string.
    case postgreSQL(String)
  }
}
