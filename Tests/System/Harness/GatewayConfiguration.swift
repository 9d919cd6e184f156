import Foundation
import TemporaryDirectoryTesting

/// A `gateway.conf` for the tests: complete, on free ports of loopback; every value can be replaced, any text added.
struct GatewayConfiguration: Sendable {
  /// Values as TOML writes them, by table (`""` for the top) and key; nil leaves the key out.
  private var tables: [(name: String, values: [(key: String, value: String?)])] = []
  /// Text at the end, for `[[route]]` and broken lines.
  var ending = ""
  private(set) var port: UInt16
  private(set) var adminPort: UInt16
  /// The name that the browser uses for the gateway. Another name than the simulator's, so that the two are different
  /// sites.
  static let host = "localhost"

  static let clientID = "com.example.web"
  /// Native apps of the same team that the simulator knows; the gateway does if a test says so.
  static let appIDs = ["com.example.app", "com.example.tv"]
  static let teamID = "DEF123GHIJ"
  static let keyID = "ABC123DEFG"
  /// In `admin.token`, in the folder of the file, for configurations that name it.
  static let adminToken = "the-token-of-administrators-in-the-tests"
  static let sessionSecret = "the first secret of the tests, long enough to be one"

  /// An address of this machine at which nobody listens.
  static let nobody = "http://127.0.0.1:9"
  /// For `ending`: everybody is let in everywhere.
  static let everythingPublic = "[[route]]\npath = \"/\"\naccess = \"public\"\n"

  /// - Parameters:
  ///   - upstream: the value of `upstream.url`.
  ///   - apple: the value of `apple.base_url`; nil leaves the real one.
  init(upstream: String = Self.nobody, apple: String? = Self.nobody) throws {
    port = try FreePort.take()
    adminPort = try FreePort.take()
    self["", "public_url"] = "\"http://\(Self.host):\(port)\""
    self["listen", "address"] = "\"127.0.0.1:\(port)\""
    self["admin", "address"] = "\"127.0.0.1:\(adminPort)\""
    self["upstream", "url"] = "\"\(upstream)\""
    self["apple", "client_id"] = "\"\(Self.clientID)\""
    self["apple", "team_id"] = "\"\(Self.teamID)\""
    self["apple", "key_id"] = "\"\(Self.keyID)\""
    self["apple", "private_key_file"] = "\"AuthKey.p8\""
    if let apple { self["apple", "base_url"] = "\"\(apple)\"" }
    self["session", "secret_files"] = "[\"session.key\"]"
    self["store", "url"] = "\"sqlite:cordon.db\""
  }

  subscript(table: String, key: String) -> String? {
    get { tables.first { $0.name == table }?.values.first { $0.key == key }?.value }
    set {
      if !tables.contains(where: { $0.name == table }) { tables.append((table, [])) }
      guard let index = tables.firstIndex(where: { $0.name == table }) else { return }
      tables[index].values.removeAll { $0.key == key }
      tables[index].values.append((key, newValue))
    }
  }

  /// Another gateway of the same site: the same public name, keys and store, on ports of its own.
  /// - Parameter store: the path of the first one's database.
  func replica(store: String) throws -> GatewayConfiguration {
    var other = self
    other.port = try FreePort.take()
    other.adminPort = try FreePort.take()
    other["listen", "address"] = "\"127.0.0.1:\(other.port)\""
    other["admin", "address"] = "\"127.0.0.1:\(other.adminPort)\""
    other["store", "url"] = "\"sqlite:\(store)\""
    return other
  }

  var redirectURI: String { "http://\(Self.host):\(port)/.auth/callback" }

  /// The file.
  var text: String {
    var lines: [String] = []
    for (name, values) in tables {
      if !name.isEmpty { lines.append("\n[\(name)]") }
      lines += values.compactMap { key, value in value.map { "\(key) = \($0)" } }
    }
    return lines.joined(separator: "\n") + "\n" + ending
  }

  /// Writes the file and the keys that it names into `directory`; answers the file's path.
  func install(in directory: TemporaryDirectory) throws -> String {
    try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey.p8")
    if !FileManager.default.fileExists(atPath: "\(directory.path)/session.key") {
      try directory.write(Self.sessionSecret + "\n", to: "session.key")
    }
    if !FileManager.default.fileExists(atPath: "\(directory.path)/admin.token") {
      try directory.write(Self.adminToken + "\n", to: "admin.token")
    }
    return try directory.write(text, to: "gateway.conf")
  }
}
