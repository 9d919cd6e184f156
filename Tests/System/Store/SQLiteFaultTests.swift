import Foundation
import TemporaryDirectoryTesting
import Testing

// SQLite in trouble under a gateway that runs, and at its start. (PostgreSQL: StoreFaultTests.)
//
// - Locked by another program, its disk full, its file system read-only since the kernel found a mistake, damaged: who
//   is signed in goes on, who would sign in gets a page with 503, /healthz says that it is the store and why.
// - A lock that is gone and a disk with room again are over without a restart; a file system that was repaired and a
//   file from a backup take one.
// - What cannot be read is trusted from memory for the grace, no longer.
// - A start on a file that is read-only or damaged is refused with the remedy.

@SystemActor
@Suite("SQLite in trouble")
struct SQLiteFaultTests {
  private static let takesRoot: Comment = "mounting a file system takes root"

  /// Keeps the file and its log, as a backup that was made while the gateway runs does.
  private func backUp(_ site: Site) throws -> String {
    let copy = "\(site.gateway.directory.path)/backup.db"
    let program = """
      import sqlite3, sys
      source, target = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[2])
      source.backup(target)
      """
    let file = "\(site.gateway.directory.path)/cordon.db"
    let made = try ServerProcess.run(
      Machine.program("python3", package: "python3"), ["-c", program, file, copy])
    #expect(made.exit == .code(0), "\(made.standardError)")
    return copy
  }

  /// Overwrites what the disk holds of the store, in place, as a disk or a stray program does.
  private func damage(_ site: Site) throws {
    for suffix in ["", "-wal"] {
      let file = "\(site.gateway.directory.path)/cordon.db\(suffix)"
      let handle = try #require(FileHandle(forUpdatingAtPath: file))
      let size = try handle.seekToEnd()
      try handle.seek(toOffset: 0)
      try handle.write(contentsOf: Data(repeating: 0x5A, count: Int(size)))
      try handle.close()
    }
  }

  /// Puts the backup in place of the file while no gateway runs, as the remedy says.
  private func restore(_ copy: String, to site: Site) throws {
    let file = "\(site.gateway.directory.path)/cordon.db"
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
    try FileManager.default.moveItem(atPath: copy, toPath: file)
  }

  private func end(_ site: Site) throws {
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
  }

  /// The error of a start that is refused.
  private func refusedStart(_ site: Site) throws -> String {
    let started = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", site.gateway.file])
    #expect(started.exit == .code(78))
    return started.standardError
  }

  @Test("A file that another program has locked: who is signed in goes on, and so does everything afterwards")
  func locked() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    let lock = try DatabaseLock("\(site.gateway.directory.path)/cordon.db")
    try site.expectStoreTrouble("locked by another process", for: anna)
    lock.release()
    try site.expectStoreRecovery(for: anna)
  }

  @Test(
    "A full disk: nobody signs in or out, nothing is lost, and it is over when there is room",
    .enabled(if: geteuid() == 0, takesRoot))
  func diskFull() throws {
    let disk = try SmallDisk(mebibytes: 2)
    defer { disk.unmount() }
    let site = try Site(adjust: { $0["store", "url"] = "\"sqlite:\(disk.path)/cordon.db\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    try disk.fill()
    try site.expectStoreTrouble("no room left", for: anna)
    try disk.makeRoom()
    try site.expectStoreRecovery(for: anna)
    try site.gateway.killAndRestart()
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test(
    "With a file system that becomes read-only, signed-in users are served, and a restart on the repaired one is enough",
    .enabled(if: FailingDisk.isPossible, takesRoot))
  func becomesReadOnly() throws {
    let disk = try FailingDisk(mebibytes: 16)
    defer { disk.detach() }
    let site = try Site(adjust: { $0["store", "url"] = "\"sqlite:\(disk.path)/cordon.db\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    try disk.fail()
    // By the kernel, as a file system that is mounted so or as one that fails.
    try site.expectStoreTrouble("written", for: anna)
    try end(site)
    try disk.unmount()
    try disk.repair()
    try disk.mount()
    try site.gateway.restart()
    try site.expectStoreRecovery(for: anna)
  }

  @Test("A file that is damaged under it: who is signed in goes on, and a backup and a restart are enough")
  func becomesDamaged() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    let copy = try backUp(site)
    try damage(site)
    // SQLite goes on writing on what it has in memory of the file.
    try site.expectStoreTrouble("restore the file from a backup", for: anna, isWritten: true)
    try end(site)
    try restore(copy, to: site)
    try site.gateway.restart()
    try site.expectStoreRecovery(for: anna)
  }

  @Test("A file that cannot be read any more is trusted from memory for the grace, no longer")
  func graceIsOver() throws {
    let site = try Site(adjust: { $0["store", "outage_grace"] = "\"6s\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    let copy = try backUp(site)
    try damage(site)
    try poll("the end of the grace") { try site.application(anna) == 503 ? () : nil }
    try end(site)
    try restore(copy, to: site)
    try site.gateway.restart()
    #expect(try site.application(anna) == 200)
  }

  @Test("A file that was moved away is trusted for the grace, no longer, and again once it is back")
  func movedAway() throws {
    let site = try Site(adjust: { $0["store", "outage_grace"] = "\"6s\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    let (file, aside) = ("\(site.gateway.directory.path)/cordon.db", "\(site.gateway.directory.path)/aside.db")
    try FileManager.default.moveItem(atPath: file, toPath: aside)
    try poll("the end of the grace") { try site.application(anna) == 503 ? () : nil }
    try site.gateway.waitForLog("store.outage_grace is over")
    #expect(try site.gateway.admin.get("/readyz").status == 503)
    try FileManager.default.moveItem(atPath: aside, toPath: file)
    try poll("the session to be served again") { try site.application(anna) == 200 ? () : nil }
  }

  @Test("Without a grace a signed-in user is served while the store answers, and no longer")
  func noGrace() throws {
    let site = try Site(adjust: { $0["store", "outage_grace"] = "\"0s\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    // A machine that is busy may hold the store up for longer than an answer counts, but not each time.
    let rounds = try (0..<3).map { _ in try (0..<20).map { _ in try site.application(anna) } }
    #expect(rounds.contains { $0.allSatisfy { $0 == 200 } }, "\(rounds)")
    let copy = try backUp(site)
    try damage(site)
    try poll("the refusal") { try site.application(anna) == 503 ? () : nil }
    try end(site)
    try restore(copy, to: site)
    try site.gateway.restart()
    #expect(try site.application(anna) == 200)
  }

  // MARK: At the start

  @Test(
    "A file that may only be read: a start is refused with the remedy, and goes well when it may be written",
    .enabled(if: geteuid() == 0, takesRoot))
  func readOnly() throws {
    let disk = try SmallDisk(mebibytes: 4)
    defer { disk.unmount() }
    let site = try Site(adjust: { $0["store", "url"] = "\"sqlite:\(disk.path)/cordon.db\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    try end(site)
    try disk.remount("ro")
    let said = try refusedStart(site)
    #expect(said.contains("may be read but not written"), "\(said)")
    try disk.remount("rw")
    try site.gateway.restart()
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test("A damaged file: a start is refused with the remedy, and the file stays as it is")
  func damaged() throws {
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn()
    try end(site)
    let file = "\(site.gateway.directory.path)/cordon.db"
    let handle = try #require(FileHandle(forUpdatingAtPath: file))
    try handle.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
    try handle.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: file))
    let refused = try refusedStart(site)
    #expect(refused.contains("restore the file from a backup"))
    #expect(refused.contains("bans, groups and tokens are lost"), "the cost of a new file: \(refused)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)).elementsEqual(before))
  }
}
