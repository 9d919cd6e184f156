import CPostgreSQL
import Sessions

/// The server's address in the form of libpq: `postgresql://user:password@host:port/database?sslmode=verify-full&…`,
/// with every parameter that libpq knows (PostgreSQL's manual, 34.1). It may hold a password, so its description
/// has hosts and database only.
struct ServerAddress: Sendable, CustomStringConvertible {
  let url: String
  /// For people: hosts and database.
  let description: String
  /// The name of the database; nil for that of the user.
  let databaseName: String?

  /// - Throws: `StoreError` if libpq is not there, or cannot read it. Its own message repeats parts of the address, so
  ///   it is left out.
  init(_ url: String) throws(StoreError) {
    try LibPQ.load()
    var message: UnsafeMutablePointer<CChar>?
    let options = pq.PQconninfoParse(url, &message)
    defer {
      pq.PQconninfoFree(options)
      pq.PQfreemem(message)
    }
    guard let options else {
      throw StoreError(
        code: .misconfigured,
        message:
          "store.url is not an address that libpq can read; write postgresql://user@host:5432/database with only "
          + "parameters that libpq knows, and the password into the environment variable PGPASSWORD; in the address "
          + "its special characters would have to be percent-encoded")
    }
    self.url = url
    var given: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    let hosts = Self.list(given["host"] ?? given["hostaddr"])
    let ports = Self.list(given["port"])
    let places = hosts.enumerated().map { index, host in
      let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
      return port.isEmpty ? host : "\(host):\(port)"
    }
    databaseName = given["dbname"]
    let database = given["dbname"].map { ", database \($0)" } ?? ""
    description = "PostgreSQL at \(places.isEmpty ? "the default host" : places.joined(separator: ", "))\(database)"
  }

  private static func list(_ text: String?) -> [String] {
    text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
  }
}
