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
    try PostgreSQLParts(text).check()
    return .postgreSQL(text)
  }

  /// Whether a PostgreSQL address names a server on another machine and says nothing of TLS: libpq then takes a
  /// connection in cleartext too, and verifies no certificate (PostgreSQL documentation, "SSL Support" of libpq).
  static func hasUnprotectedServer(_ url: String) -> Bool {
    let parts = PostgreSQLParts(url)
    // A service is a section of a file of libpq, which may have its own sslmode.
    guard parts.values(of: "sslmode").isEmpty, parts.values(of: "service").isEmpty else { return false }
    let hosts = [parts.values(of: "hostaddr"), parts.values(of: "host")].first { !$0.isEmpty } ?? [parts.hosts]
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

/// The parts of a PostgreSQL address that are judged here. libpq, which is not loaded to check a configuration, judges
/// the rest, and the values of these when it connects: a start would end there.
private struct PostgreSQLParts {
  /// Hosts with their ports, separated by commas.
  let hosts: Substring.UTF8View
  /// Whether there is an "@" other than the first one before the path. libpq ends user and password at the first, and
  /// messages about the host or the database would show the rest of a password. One in the path belongs to the name of
  /// the database where no password can have begun before it.
  private let hasOtherAt: Bool
  private let parameters: [Substring.UTF8View]

  init(_ url: String) {
    let parts = url.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1)
    parameters = (parts.count == 2 ? parts[1] : Substring().utf8).split(separator: UInt8(ascii: "&"))
    let rest = parts[0].drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
    let address = rest.prefix { $0 != UInt8(ascii: "/") }
    let isAt = { (byte: UInt8) in byte == UInt8(ascii: "@") }
    hasOtherAt =
      address.count(where: isAt) > 1
      || address.contains(UInt8(ascii: ":")) && rest[address.endIndex...].contains(where: isAt)
    hosts = address.lastIndex(of: UInt8(ascii: "@")).map { address[address.index(after: $0)...] } ?? address
  }

  func values(of name: String) -> [Substring.UTF8View] {
    let start = "\(name)=".utf8
    return parameters.filter { $0.starts(with: start) }.map { $0.dropFirst(start.count) }
  }

  /// - Throws: for an invalid port, for an "@" that is not encoded, and for an sslmode that libpq does not know.
  func check() throws(Diagnostic) {
    let comma = UInt8(ascii: ",")
    let places = hosts.split(separator: comma).compactMap(Self.port)
    let ports = places + values(of: "port").flatMap { $0.split(separator: comma) }
    // Percent-encoded ones are rare, and left to libpq.
    for port in ports where !port.isEmpty && !port.contains(UInt8(ascii: "%")) {
      guard Port.parse(port) != nil else {
        throw Diagnostic(
          "has an invalid port",
          remedy: "write a number from 1 to 65535, and percent-encode special characters of a password")
      }
    }
    guard !hasOtherAt else {
      throw Diagnostic(
        "has an \"@\" where it ends user and password too early",
        remedy: "write %40 for one that belongs to a name or the password, or the password into PGPASSWORD")
    }
    for mode in values(of: "sslmode") where !mode.contains(UInt8(ascii: "%")) {
      if Self.modes.contains(where: { mode.elementsEqual($0.utf8) }) { continue }
      throw Diagnostic(
        "has an sslmode that libpq does not know",
        remedy: "write one of \(Self.modes.joined(separator: ", ")); over a network verify-full")
    }
  }

  /// The text after the colon behind a host; an IPv6 address has others between brackets.
  private static func port(of place: Substring.UTF8View) -> Substring.UTF8View? {
    let bracket = place.lastIndex(of: UInt8(ascii: "]")) ?? place.startIndex
    return place[bracket...].firstIndex(of: UInt8(ascii: ":")).map { place[place.index(after: $0)...] }
  }

  private static let modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
}
