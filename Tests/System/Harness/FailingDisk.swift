import Foundation
import TemporaryDirectoryTesting

/// A file system on a disk of its own that becomes read-only when the kernel finds a mistake in it, under processes
/// that have its files open, as ext4 does on a server whose disk goes bad. It takes root, and a kernel that has loop
/// devices.
@SystemActor
final class FailingDisk {
  let path: String
  private let directory: TemporaryDirectory
  private let image: String

  nonisolated static var isPossible: Bool {
    geteuid() == 0 && access("/dev/loop-control", R_OK) == 0 && access("/sys/fs/ext4/features", R_OK) == 0
  }

  init(mebibytes: Int) throws {
    directory = try TemporaryDirectory()
    image = "\(directory.path)/disk"
    path = "\(directory.path)/mounted"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    try directory.write("", to: "disk")
    guard truncate(image, off_t(mebibytes) << 20) == 0 else { throw HarnessError.system("truncate", errno: errno) }
    try run("mkfs.ext4", package: "e2fsprogs", ["-q", "-F", image])
    try mount()
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
  }

  func mount() throws { try run("mount", package: "mount", ["-o", "loop,errors=remount-ro", image, path]) }

  func unmount() throws { try run("umount", package: "mount", [path]) }

  /// Also where somebody still has files of it open.
  func detach() { _ = try? ServerProcess.run("/usr/bin/umount", ["--lazy", path]) }

  /// From now on nothing can be written, until it has been unmounted.
  func fail() throws {
    let source = try run("findmnt", package: "util-linux", ["--noheadings", "--output", "SOURCE", path])
    let device = source.split(separator: "/").last.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
    try "cordon".write(toFile: "/sys/fs/ext4/\(device)/trigger_fs_error", atomically: false, encoding: .utf8)
  }

  /// Repairs the file system, which is not mounted.
  func repair() throws {
    let fsck = try ServerProcess.run(Machine.program("fsck.ext4", package: "e2fsprogs"), ["-y", "-f", image])
    // 1: mistakes were corrected.
    guard [.code(0), .code(1)].contains(fsck.exit) else { throw HarnessError.malformed(fsck.standardOutput) }
  }

  @discardableResult
  private func run(_ program: String, package: String, _ arguments: [String]) throws -> String {
    let result = try ServerProcess.run(Machine.program(program, package: package), arguments)
    guard result.exit == .code(0) else { throw HarnessError.missing("\(program): \(result.standardError)") }
    return result.standardOutput
  }
}
