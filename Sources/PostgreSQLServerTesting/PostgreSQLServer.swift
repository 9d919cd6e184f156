import Dispatch
import Foundation
import Synchronization
import TemporaryDirectoryTesting

/// A real PostgreSQL server for tests: on a free port of loopback, with a folder of its own, ended by `end` or with the
/// value, and by the kernel when the process of the tests ends.
///
/// PostgreSQL does not run as root, so root starts it as the user `postgres` that Debian's package brings.
package final class PostgreSQLServer: Sendable {
  /// The superuser; TCP connections need the password.
  package static let user = "cordon"
  /// The superuser's password. Holds delimiters of URLs, so that every test proves that they are escaped.
  package static let password = "s3cret/of:the@tests"

  /// The TCP port on 127.0.0.1, free when the server was made; the same after a restart.
  package let port: UInt16
  private let folder: TemporaryDirectory
  private let child: Mutex<ServerChild?>
  private let databases = Atomic<Int>(0)

  /// As `init`, on a thread of its own: of the threads of Swift's tasks there are as few as processors, and a test that
  /// blocks one for two seconds takes them from every other test. One server after another: a dozen at once would take
  /// the machine from every test.
  package static func started(
    _ settings: [String] = [], certificate: ServerCertificate? = nil
  ) async throws -> PostgreSQLServer {
    try await withCheckedThrowingContinuation { continuation in
      starting.async {
        continuation.resume(with: Result { try PostgreSQLServer(settings, certificate: certificate) })
      }
    }
  }

  private static let starting = DispatchQueue(label: "servers that start")

  /// Makes a cluster and starts it. Blocks for a second or two.
  /// - Parameters:
  ///   - settings: more lines of `postgresql.conf`, as `max_connections=20`.
  ///   - certificate: with one, it speaks TLS, and refuses TCP connections without.
  package init(_ settings: [String] = [], certificate: ServerCertificate? = nil) throws {
    folder = try Self.makeFolder()
    port = try Self.freePort()
    child = Mutex(nil)
    let passwordFile = folder.file("password")
    try (Self.password + "\n").write(toFile: passwordFile, atomically: false, encoding: .utf8)
    try ServerChild.run(
      Self.asServerUser([
        try Self.program("initdb"), "--pgdata", folder.file("data"), "--username", Self.user, "--pwfile", passwordFile,
        "--auth-host", "scram-sha-256", "--auth-local", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync",
      ]))
    try configure(settings)
    if let certificate { try present(certificate) }
    try start()
  }

  deinit { end() }

  /// Ends the server for good, and removes its folder.
  ///
  /// By a signal that it handles: killed, it would leave shared memory of the system behind, of which there is only so
  /// much, and processes that still write to the folder.
  package func end() {
    thaw()
    if let child = child.withLock({ $0.take() }) {
      child.signal(SIGQUIT)
      if (try? child.waitForEnd()) == nil { child.kill() }
    }
    folder.remove()
  }

  // MARK: Databases

  /// A fresh database, and its address.
  package func makeDatabase(_ options: String = "") throws -> String {
    let name = "tests_\(databases.add(1, ordering: .relaxed).newValue)"
    try query("CREATE DATABASE \(name) \(options)")
    return url(of: name)
  }

  /// The address of a database for libpq (`postgresql://…`), by TCP, with the password escaped.
  package func url(of database: String, user: String = user, password: String = password) -> String {
    let escaped = password.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "postgresql://\(user):\(escaped)@127.0.0.1:\(port)/\(database)"
  }

  /// The output of `psql`, one row a line, columns with `|` between them. By the server's socket: a query of the tests
  /// works without a password.
  @discardableResult
  package func query(_ statement: String, in database: String = "postgres") throws -> String {
    try ServerChild.run([
      "/usr/bin/psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1",
      "--host", folder.path, "--port", "\(port)", "--username", Self.user, "--dbname", database, "--command", statement,
    ]).trimmingCharacters(in: .newlines)
  }

  /// As `query`, in the database that an address names.
  @discardableResult
  package func query(_ statement: String, at url: String) throws -> String {
    try query(statement, in: String(url.prefix { $0 != "?" }.split(separator: "/").last ?? ""))
  }

  // MARK: Failures

  /// Starts the server, and waits until it takes connections.
  package func start() throws {
    let started = try ServerChild(
      Self.asServerUser([try Self.program("postgres"), "-D", folder.file("data")]), output: folder.file("log"))
    child.withLock { $0 = started }
    let deadline = Date(timeIntervalSinceNow: 30)
    while true {
      if (try? query("SELECT 1")) == "1" { return }
      guard started.isRunning, deadline.timeIntervalSinceNow > 0 else {
        let log = (try? String(contentsOfFile: folder.file("log"), encoding: .utf8)) ?? ""
        throw PostgreSQLServerError("PostgreSQL did not start; it said:\n\(log)")
      }
      usleep(20_000)
    }
  }

  /// Ends the server in an orderly way: connections are ended, what is under way is undone.
  package func stop() throws {
    guard let child = child.withLock({ $0.take() }) else { return }
    child.signal(SIGINT)
    try child.waitForEnd()
  }

  /// Ends the server as a crash does.
  package func kill() throws {
    guard let child = child.withLock({ $0.take() }) else { return }
    child.signal(SIGQUIT)
    try child.waitForEnd()
  }

  /// Restarts the server in recovery: a standby that receives nothing, until `SELECT pg_promote()`.
  package func restartAsStandby() throws {
    try stop()
    let file = folder.file("data/standby.signal")
    try Data().write(to: URL(fileURLWithPath: file))
    // The server opens it for writing.
    try Self.giveToServer(file)
    try start()
  }

  /// Stops the server, with all processes that it has started, until `thaw`.
  package func freeze() { signalAll(SIGSTOP) }

  /// Continues the server after `freeze`; connections go on where they stood.
  package func thaw() { signalAll(SIGCONT) }

  /// Changes a setting of the running server: `default_transaction_read_only = on`.
  package func set(_ setting: String) throws {
    try query("ALTER SYSTEM SET \(setting)")
    try query("SELECT pg_reload_conf()")
  }

  // MARK: Implementation

  private func configure(_ settings: [String]) throws {
    let lines =
      [
        "listen_addresses='127.0.0.1'", "port=\(port)", "unix_socket_directories='\(folder.path)'", "fsync=off",
        "max_connections=200", "shared_buffers=32MB", "logging_collector=off", "log_timezone='UTC'",
        // In the folder: a server that is killed does not remove what it has in /dev/shm.
        "dynamic_shared_memory_type=mmap",
      ] + settings
    try append(lines.joined(separator: "\n") + "\n", to: "postgresql.conf")
  }

  private func present(_ certificate: ServerCertificate) throws {
    for (name, text) in [("server.crt", certificate.chain), ("server.key", certificate.key)] {
      let file = folder.file("data/\(name)")
      try text.write(toFile: file, atomically: false, encoding: .utf8)
      chmod(file, 0o600)
      try Self.giveToServer(file)
    }
    try append("ssl=on\n", to: "postgresql.conf")
    let rules = folder.file("data/pg_hba.conf")
    let text = try String(contentsOfFile: rules, encoding: .utf8)
    try text.replacingOccurrences(of: "\nhost ", with: "\nhostssl ")
      .write(toFile: rules, atomically: false, encoding: .utf8)
  }

  private func append(_ text: String, to name: String) throws {
    // Not atomically: the file stays the server's own.
    let file = folder.file("data/\(name)")
    try (String(contentsOfFile: file, encoding: .utf8) + text).write(toFile: file, atomically: false, encoding: .utf8)
  }

  private func signalAll(_ number: Int32) {
    guard let child = child.withLock({ $0 }), child.isRunning else { return }
    // The first process first: it must not start others while they are stopped.
    for process in [child.pid] + Self.children(of: child.pid) { _ = Glibc.kill(process, number) }
  }

  private static func children(of parent: pid_t) -> [pid_t] {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return entries.compactMap { pid_t($0) }.filter { pid in
      guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
      // After the name, which is in parentheses: state, parent.
      let words = stat.split(separator: ")").last?.split(separator: " ") ?? []
      return words.count > 1 && words[1] == "\(parent)"
    }
  }

  /// Owned by the server's user, who alone may look in.
  private static func makeFolder() throws -> TemporaryDirectory {
    let folder = try TemporaryDirectory()
    try giveToServer(folder.path)
    return folder
  }

  private static func giveToServer(_ path: String) throws {
    guard geteuid() == 0 else { return }
    guard let user = getpwnam("postgres") else { throw PostgreSQLServerError(missing) }
    chown(path, user.pointee.pw_uid, user.pointee.pw_gid)
  }

  private static func asServerUser(_ command: [String]) -> [String] {
    // QUIT ends all processes of the server as well; killed, it would leave shared memory of the system behind.
    let credentials = geteuid() == 0 ? ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"] : []
    return ["/usr/bin/setpriv"] + credentials + ["--pdeathsig", "QUIT", "--"] + command
  }

  private static let missing = "PostgreSQL is missing: install the Debian package postgresql (make test does)"

  /// Debian keeps the server's programs apart by version.
  private static func program(_ name: String) throws -> String {
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let newest = versions.compactMap { Int($0) }.max()
    guard let newest else { throw PostgreSQLServerError(missing) }
    return "/usr/lib/postgresql/\(newest)/bin/\(name)"
  }

  /// Below the ports that the kernel gives to outgoing connections, so that none of those takes it before the server
  /// has started, or while it is started again.
  private static func freePort() throws -> UInt16 {
    for _ in 0..<100 {
      let port = UInt16.random(in: 10_000..<20_000)
      if isFree(port) { return port }
    }
    throw PostgreSQLServerError("no free port")
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}

/// The server could not be had as a test wants it.
package struct PostgreSQLServerError: Error, CustomStringConvertible {
  /// The step that failed, with the output of the program if there was any.
  package let description: String

  init(_ description: String) { self.description = description }
}
