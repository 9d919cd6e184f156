import Foundation
import TemporaryDirectoryTesting

/// A file system in memory that is soon full.
@SystemActor
final class SmallDisk {
  let path: String
  private let directory: TemporaryDirectory

  init(mebibytes: Int) throws {
    directory = try TemporaryDirectory()
    path = directory.path
    let mount = try ServerProcess.run(
      Machine.program("mount", package: "mount"), ["-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=0700", "tmpfs", path])
    guard mount.exit == .code(0) else { throw HarnessError.missing("a tmpfs: \(mount.standardError)") }
  }

  func unmount() {
    _ = try? ServerProcess.run("/usr/bin/umount", ["--lazy", path])
  }

  /// Whether it may be written: "rw" or "ro", while no process has a file of it open for writing.
  func remount(_ mode: String) throws {
    let mount = try ServerProcess.run(
      Machine.program("mount", package: "mount"), ["-o", "remount,\(mode)", path])
    guard mount.exit == .code(0) else { throw HarnessError.missing("a remounted tmpfs: \(mount.standardError)") }
  }

  /// Not one byte is left.
  func fill() throws {
    guard let file = fopen("\(path)/filling", "w") else { throw HarnessError.system("fopen", errno: errno) }
    defer { fclose(file) }
    setvbuf(file, nil, _IONBF, 0)
    let block = [UInt8](repeating: 0, count: 512)
    while fwrite(block, 1, block.count, file) == block.count {}
  }

  func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(path)/filling") }
}
