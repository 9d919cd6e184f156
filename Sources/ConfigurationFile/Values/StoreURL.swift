import Sessions
import WebFormats

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

  /// Whether a PostgreSQL address names a server on another machine and says nothing of TLS: libpq then takes a
  /// connection in cleartext too, and verifies no certificate (PostgreSQL documentation, "SSL Support" of libpq).
  static func hasUnprotectedServer(_ url: String) -> Bool {
    let parts = url.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
    let parameters = (parts.count == 2 ? parts[1] : Substring().utf8).split(separator: UInt8(ascii: "&"))
    func values(of name: String) -> [Substring.UTF8View] {
      let start = "\(name)=".utf8
      return parameters.filter { $0.starts(with: start) }.map { $0.dropFirst(start.count) }
    }
    // A service is a section of a file of libpq, which may have its own sslmode.
    guard values(of: "sslmode").isEmpty, values(of: "service").isEmpty else { return false }
    let address = parts[0].drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
    let named = address.lastIndex(of: UInt8(ascii: "@")).map { address[address.index(after: $0)...] } ?? address
    let hosts = [values(of: "hostaddr"), values(of: "host")].first { !$0.isEmpty } ?? [named]
    return hosts.flatMap { $0.split(separator: UInt8(ascii: ",")) }.contains { !isOnThisMachine($0) }
  }

  /// - Parameter server: a host with or without a port, or the folder of a Unix socket.
  private static func isOnThisMachine(_ server: Substring.UTF8View) -> Bool {
    let folderMarks = ["/", "%2F", "%2f"]
    return folderMarks.contains { server.starts(with: $0.utf8) } || Authority.isLoopback(Array(server).span)
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
