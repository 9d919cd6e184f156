import AccessPolicy
import Foundation
import TemporaryDirectoryTesting
import Testing

@testable import Gateway

@Suite("Members files")
struct MembersFilesTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.file("staff.txt") }

  init() throws { folder = try TemporaryDirectory() }

  private func write(_ text: String, atomically: Bool = true) throws {
    try text.write(toFile: path, atomically: atomically, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
  }

  private func files() throws -> MembersFiles {
    try MembersFiles([GroupConfiguration(name: "staff", members: ["000.root"], membersFile: path)])
  }

  /// Looks twice, between which nothing changes.
  private func reread(_ files: inout MembersFiles) -> ([MembersFiles.MembersChange], [MembersFileError]) {
    let (changes, problems) = files.reread()
    #expect(changes.isEmpty && problems.isEmpty, "a file that has just changed is not read yet")
    return files.reread()
  }

  private func isMember(_ subject: String, _ files: MembersFiles) -> Bool {
    let directory = files.directory
    return directory.names(of: directory.membership(of: Principal(subject: subject)).groups) == ["staff"]
  }

  @Test("A group has the members of the configuration and of its file")
  func reads() throws {
    try write("# the staff\n001.anna\n")
    let files = try files()
    #expect(isMember("000.root", files) && isMember("001.anna", files) && !isMember("002.ben", files))
    #expect(!files.areOutdated)
  }

  @Test("A file that was replaced or written in place is read again", arguments: [true, false])
  func changes(atomically: Bool) throws {
    try write("001.anna\n")
    var files = try files()
    try write("002.ben\n", atomically: atomically)
    #expect(files.areOutdated)
    let (changes, problems) = reread(&files)
    #expect(changes == [MembersFiles.MembersChange(group: "staff", before: 1, after: 1)] && problems.isEmpty)
    #expect(isMember("002.ben", files) && !isMember("001.anna", files))
    #expect(!files.areOutdated)
  }

  @Test("A file that is being written is not read before it stays the same: nobody is put out of a list by half of it")
  func half() throws {
    try write("001.anna\n002.ben\n003.cleo\n004.dana\n")
    var files = try files()
    for text in ["001.anna\n", "001.anna\n002.ben\n", "001.anna\n002.ben\n003.cleo\n"] {
      try write(text, atomically: false)
      #expect(files.reread().changes.isEmpty && files.areOutdated && isMember("004.dana", files))
    }
    let (changes, _) = files.reread()
    #expect(changes.map(\.after) == [3] && changes.map(\.isLarge) == [false] && !isMember("004.dana", files))
    try write("001.anna\n", atomically: false)
    #expect(reread(&files).0.map(\.isLarge) == [true], "a third is left of it")
    try write("001.anna\n002.ben\n003.cleo\n004.dana\n")
    #expect(reread(&files).0.map(\.after) == [4])
    try write("001.anna\n", atomically: false)
    #expect(reread(&files).0.map(\.isLarge) == [true])
  }

  @Test("A file that never stays the same is read in the end")
  func restless() throws {
    try write("001.anna\n")
    var files = try files()
    var looks = 0
    while isMember("001.anna", files), looks < 100 {
      looks += 1
      try write("002.ben\n" + String(repeating: "#", count: looks) + "\n")
      _ = files.reread()
    }
    #expect(looks == 16 && isMember("002.ben", files))
  }

  @Test("A file that can be used again is one of the repaired, whether a look or a reload has read it")
  func repaired() throws {
    try write("001.anna\n")
    let good = try files()
    var broken = good
    try write("*@example.com\n")
    let problems = reread(&broken).1
    #expect(problems.count == 1 && broken.repaired(since: good).isEmpty)
    try write("002.ben\n")
    var looked = broken
    let rest = reread(&looked).1
    #expect(rest.isEmpty && looked.repaired(since: broken) == ["staff"])
    #expect(looked.repaired(since: looked).isEmpty)
    let group = GroupConfiguration(name: "staff", members: [], membersFile: path)
    #expect(try MembersFiles([group], after: broken).repaired(since: broken) == ["staff"])
    #expect(try MembersFiles([], after: broken).repaired(since: broken).isEmpty, "a group that was removed")
  }

  @Test("A broken, empty or missing file keeps the old members, and is reported once with line and remedy")
  func broken() throws {
    try write("001.anna\n")
    var files = try files()
    try write("001.anna\n*@example.com\n")
    let (changes, problems) = reread(&files)
    #expect(changes.isEmpty && isMember("001.anna", files))
    #expect(problems.count == 1 && problems.first?.problem.contains("staff.txt:2:") == true)
    #expect(problems.first?.remedy.isEmpty == false && files.problems == problems)
    #expect(files.reread().problems.isEmpty, "the same problem is not reported again")
    try write("# nobody\n")
    #expect(reread(&files).1.count == 1 && isMember("001.anna", files))
    try FileManager.default.removeItem(atPath: path)
    #expect(reread(&files).1.count == 1 && isMember("001.anna", files))
    try write("002.ben\n")
    #expect(!reread(&files).0.isEmpty && files.problems.isEmpty && isMember("002.ben", files))
  }

  @Test("A file that cannot be read is tried again, though nothing of it has changed")
  func unreadable() throws {
    try write("001.anna\n")
    var files = try files()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    #expect(reread(&files).1.count == 1)
    for _ in 0..<3 {
      #expect(files.areOutdated)
      #expect(files.reread().changes.isEmpty && files.problems.count == 1)
    }
    let after = try MembersFiles([GroupConfiguration(name: "staff", membersFile: path)], after: files)
    #expect(after.areOutdated && isMember("001.anna", after))
  }

  @Test("At a reload a broken file keeps the members that it had, and one that was not read before is an error")
  func reload() throws {
    try write("001.anna\n")
    let before = try files()
    try write("*@example.com\n")
    let groups = [GroupConfiguration(name: "staff", membersFile: path)]
    var after = try MembersFiles(groups, after: before)
    #expect(isMember("001.anna", after) && !isMember("000.root", after), "the rest is as configured now")
    #expect(after.problems.count == 1 && after.problems.first?.problem.contains("staff.txt:1:") == true)
    #expect(throws: MembersFileError.self) { try MembersFiles(groups) }
    let other = try MembersFiles([])
    #expect(throws: MembersFileError.self) { try MembersFiles(groups, after: other) }
    try write("002.ben\n")
    #expect(!reread(&after).0.isEmpty && after.problems.isEmpty && isMember("002.ben", after))
  }

  @Test("A file behind a link that is switched, as Kubernetes does with a ConfigMap, is read again")
  func link() throws {
    let manager = FileManager.default
    for (name, member) in [("v1", "001.anna"), ("v2", "002.ben")] {
      let version = folder.url.appendingPathComponent(name)
      try manager.createDirectory(at: version, withIntermediateDirectories: true)
      try "\(member)\n".write(to: version.appendingPathComponent("staff.txt"), atomically: true, encoding: .utf8)
    }
    let data = folder.file("..data")
    try manager.createSymbolicLink(atPath: data, withDestinationPath: "v1")
    try manager.createSymbolicLink(atPath: path, withDestinationPath: "..data/staff.txt")
    var files = try files()
    #expect(isMember("001.anna", files))
    let next = folder.file("..next")
    try manager.createSymbolicLink(atPath: next, withDestinationPath: "v2")
    #expect(rename(next, data) == 0)
    #expect(files.areOutdated && !reread(&files).0.isEmpty && isMember("002.ben", files))
  }

  @Test("A broken file, or one that everybody may write, is an error at the start")
  func start() throws {
    #expect(throws: MembersFileError.self) { try files() }
    try write("")
    #expect(throws: MembersFileError.self) { try files() }
    try write("001.anna\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
    #expect(throws: MembersFileError.self) { try files() }
  }
}
