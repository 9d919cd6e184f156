import Sessions

/// The address of the store: `sqlite:` and a path, or a `postgresql://` address. It may contain a password, which
/// diagnostics never repeat.
enum StoreURL {
  static func parse(_ text: String, directory: String) throws(Diagnostic) -> StoreSettings.Location {
    if text.utf8.starts(with: "sqlite:".utf8) {
      let path = String(decoding: text.utf8.dropFirst(7), as: UTF8.self)
      guard !path.utf8.starts(with: "//".utf8) else {
        throw Diagnostic(
          "has slashes before its path",
          remedy: "write one colon and the path, as in \"sqlite:/var/lib/cordon/cordon.db\"")
      }
      guard path.utf8.first != UInt8(ascii: ":") else {
        throw Diagnostic(
          "names no file of its own", remedy: "write \"sqlite:\" and a path, as in \"sqlite:/var/lib/cordon/cordon.db\""
        )
      }
      return .sqlite(path: try FilePath.parse(path, directory: directory))
    }
    guard text.utf8.starts(with: "postgresql://".utf8) || text.utf8.starts(with: "postgres://".utf8) else {
      throw Diagnostic(
        "is not a supported store",
        remedy: "write \"sqlite:/var/lib/cordon/cordon.db\" or \"postgresql://user@host/database\"")
    }
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw Diagnostic("holds spaces or non-ASCII characters", remedy: "percent-encode them (RFC 3986)")
    }
    return .postgreSQL(text)
  }

  /// Without the password of a PostgreSQL address, and without its parameters, which can hold one too.
  static func format(_ location: StoreSettings.Location) -> String {
    switch location {
    case .sqlite(let path): return "sqlite:\(path)"
    case .postgreSQL(let url):
      let address = url.utf8.prefix { $0 != UInt8(ascii: "?") }
      let host = address.lastIndex(of: UInt8(ascii: "@")).map { address[address.index(after: $0)...] }
      return "postgresql://"
        + String(decoding: host ?? address.dropFirst(url.utf8.starts(with: "postgresql".utf8) ? 13 : 11), as: UTF8.self)
    }
  }
}
