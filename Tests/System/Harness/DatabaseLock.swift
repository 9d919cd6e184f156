/// Keeps a gateway's database from being written, as a backup that hangs does.
@SystemActor
final class DatabaseLock {
  private let process: ServerProcess

  init(_ path: String) throws {
    let program = """
      import sqlite3, time
      database = sqlite3.connect(\(String(reflecting: path)), isolation_level=None, timeout=30)
      database.execute("BEGIN IMMEDIATE")
      print("locked", flush=True)
      time.sleep(600)
      """
    process = try ServerProcess(Machine.program("python3", package: "python3"), ["-c", program])
    try process.waitForLine(containing: "locked")
  }

  func release() { process.stop() }
}
