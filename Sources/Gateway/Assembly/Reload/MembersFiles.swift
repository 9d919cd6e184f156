internal import AccessPolicy
internal import Secrets
internal import WebFormats

/// The members files of the configuration's groups, as they were last read, with the members that are in effect.
struct MembersFiles: Sendable {
  private let groups: [GroupConfiguration]
  /// Indexed by their paths.
  private var files: [String: File] = [:]

  private struct File {
    /// The members of the last successful read.
    var members: [String]
    /// The attributes of the file just before it was last read.
    var seen: FileAttributes
    /// The problem of the last read; nil if it succeeded.
    var problem: MembersFileError?
    var change = Change.none
  }

  /// The change of a file since it was last read.
  private enum Change {
    case none
    /// The file has changed, and had these attributes at the last look. It is read once it has them at the next one,
    /// too: until then it may be half written, and would put out members, or let users in whom a deny list names.
    /// - looks: those that have found it changed. A file that never stays the same is read after a number of them.
    case begun(FileAttributes, looks: Int)
    /// Reading failed, and may succeed later although nothing of the file changes.
    case unread
  }

  /// The members of a file have changed.
  struct MembersChange: Equatable {
    /// The name of the first group that the file belongs to.
    let group: String
    /// The numbers of members.
    let before: Int
    let after: Int

    /// Whether more than half of the members are gone, as of a file that was cut off.
    var isLarge: Bool { 2 * after < before }
  }

  /// Half a minute, at the interval of ``FileRounds``.
  private static let mostLooks = 15

  /// Reads every file. An invalid one keeps its previous members.
  /// - Parameter previous: the files before, at a reload.
  /// - Throws: the problem of the first file that cannot be used and was not read before.
  init(_ groups: [GroupConfiguration], after previous: MembersFiles? = nil) throws(MembersFileError) {
    self.groups = groups
    for group in groups {
      guard let path = group.membersFile, files[path] == nil else { continue }
      let seen = FileAttributes([path])
      do throws(MembersFileError) {
        files[path] = File(members: try Self.members(of: path, group.name), seen: seen)
      } catch {
        guard let known = previous?.files[path] else { throw error }
        files[path] = File(
          members: known.members, seen: seen, problem: error, change: error.isOfReading ? .unread : .none)
      }
    }
  }

  /// The groups with the members that are in effect.
  var directory: GroupDirectory {
    GroupDirectory(
      groups.map { $0.settings(withMembersOfFile: $0.membersFile.flatMap { files[$0]?.members } ?? []) })
  }

  /// Whether any group has a file.
  var isEmpty: Bool { files.isEmpty }

  /// The present problems, in the order of the groups.
  var problems: [MembersFileError] {
    var seen: Set<String> = []
    return groups.compactMap(\.membersFile).filter { seen.insert($0).inserted }.compactMap { files[$0]?.problem }
  }

  /// The groups whose files can be used and could not before, each file once, by its first group.
  func repaired(since before: MembersFiles) -> [String] {
    var seen: Set<String> = []
    return groups.compactMap { group in
      guard let path = group.membersFile, seen.insert(path).inserted, let file = files[path], file.problem == nil,
        before.files[path]?.problem != nil
      else { return nil }
      return group.name
    }
  }

  /// Whether a file has changed since it was last read, by its attributes, or is to be read again.
  var areOutdated: Bool {
    files.contains { path, file in
      if case .none = file.change { FileAttributes([path]) != file.seen } else { true }
    }
  }

  /// Reads the files that have changed and then stayed the same since the last look. An invalid one keeps its members.
  /// - Returns: the new members, and the new problems.
  mutating func reread() -> (changes: [MembersChange], problems: [MembersFileError]) {
    var changes: [MembersChange] = []
    var problems: [MembersFileError] = []
    var read: Set<String> = []
    for group in groups {
      guard let path = group.membersFile, read.insert(path).inserted, var file = files[path] else { continue }
      let seen = FileAttributes([path])
      switch file.change {
      case .none where seen == file.seen: continue
      case .begun(let before, let looks) where seen == before || looks == Self.mostLooks: break
      case .unread where seen == file.seen: break
      case .begun(_, let looks):
        files[path]?.change = .begun(seen, looks: looks + 1)
        continue
      case .none, .unread:
        files[path]?.change = .begun(seen, looks: 1)
        continue
      }
      file.seen = seen
      file.change = .none
      do throws(MembersFileError) {
        let members = try Self.members(of: path, group.name)
        if members != file.members {
          changes.append(MembersChange(group: group.name, before: file.members.count, after: members.count))
        }
        file.members = members
        file.problem = nil
      } catch {
        if file.problem != error { problems.append(error) }
        file.problem = error
        if error.isOfReading { file.change = .unread }
      }
      files[path] = file
    }
    return (changes, problems)
  }

  private static func members(of path: String, _ group: String) throws(MembersFileError) -> [String] {
    let bytes: [UInt8]
    let mode: UInt32
    do throws(PrivateFileError) {
      (bytes, mode) = try OpenedFile.read(path, limit: MembersFile.sizeLimit)
    } catch {
      let isOfReading =
        switch error.reason {
        case .unreadable, .failed: true
        default: false
        }
      throw MembersFileError(
        group: group, problem: "\(path) \(error.problem)", remedy: error.remedy(quoting: ShellWord.quoting),
        isOfReading: isOfReading)
    }
    guard mode & 0o002 == 0 else {
      throw MembersFileError(
        group: group, problem: "\(path): every user can write it",
        remedy: "fix it with: chmod o-w \(ShellWord.quoting(path))")
    }
    do throws(MembersFileSyntaxError) {
      return try MembersFile.parse(bytes)
    } catch {
      throw MembersFileError(group: group, problem: "\(path):\(error.line): \(error.message)", remedy: error.remedy)
    }
  }
}

extension GatewaySettings {
  /// The location of a member of a group in the configuration, for messages.
  var memberPlace: @Sendable (_ member: String, _ group: String) -> String? {
    let groups = routing.groups
    return { member, group in
      groups.first { $0.name.utf8.elementsEqual(group.utf8) }?.place(of: member) { path in
        try? OpenedFile.read(path, limit: MembersFile.sizeLimit).0
      }
    }
  }
}

/// A `members_file` cannot be used. An operator error.
struct MembersFileError: Error, Equatable, CustomStringConvertible {
  /// The name of the first group that the file belongs to.
  let group: String
  /// The path, the line, and the problem.
  let problem: String
  let remedy: String
  /// Whether the file is there and could not be read.
  var isOfReading = false

  var description: String { "members_file of group \"\(group)\": \(problem); \(remedy)" }
}
