internal import WebFormats

/// The format of a `members_file`: one member a line. `#` at the start of a line or after white space begins a comment.
package enum MembersFile {
  /// Maximum size in bytes: 64 MiB.
  package static let sizeLimit = 64 << 20
  /// Maximum number of members.
  package static let memberLimit = 1_000_000

  /// The members of a file, in its order.
  /// - Throws: the first invalid line, or `empty` if there is no member.
  package static func parse(_ bytes: [UInt8]) throws(MembersFileSyntaxError) -> [String] {
    guard bytes.count <= sizeLimit else { throw MembersFileSyntaxError(line: 1, reason: .tooLong) }
    var members: [String] = []
    var line = 0
    var start = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    while start < bytes.count {
      line += 1
      let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
      let text = content(of: bytes[start..<end])
      start = end + 1
      if text.isEmpty { continue }
      guard members.count < memberLimit else { throw MembersFileSyntaxError(line: line, reason: .tooMany) }
      guard let member = String(validating: text, as: UTF8.self) else {
        throw MembersFileSyntaxError(line: line, reason: .notUTF8)
      }
      if let problem = GroupMember.problem(of: member) {
        throw MembersFileSyntaxError(line: line, reason: .member(problem))
      }
      members.append(member)
    }
    if members.isEmpty { throw MembersFileSyntaxError(line: 1, reason: .empty) }
    return members
  }

  /// The first line of a file that names a member, from 1; nil if none does.
  package static func line(of member: GroupMember, in bytes: [UInt8]) -> Int? {
    let start = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    let lines = bytes[start...].split(separator: 0x0A, omittingEmptySubsequences: false)
    let index = lines.firstIndex { line in
      String(validating: content(of: line), as: UTF8.self).flatMap { GroupMember($0) } == member
    }
    return index.map { $0 + 1 }
  }

  /// The byte order mark that some editors write.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// A line without its comment and the white space around it.
  private static func content(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var (start, end) = (line.startIndex, line.endIndex)
    for index in line.indices where line[index] == UInt8(ascii: "#") {
      if index == line.startIndex || isSpace(line[index - 1]) {
        end = index
        break
      }
    }
    while start < end, isSpace(line[start]) { start += 1 }
    while end > start, isSpace(line[end - 1]) { end -= 1 }
    return line[start..<end]
  }

  /// Spaces, tabs, and the carriage return of a line that ends with CR LF.
  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}

/// A problem of a `members_file`: the line, what is wrong, and the remedy.
package struct MembersFileSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
  /// From 1.
  package let line: Int
  /// The problem of the line, or of the whole file.
  package let reason: Reason

  /// The kinds of problems.
  package enum Reason: Sendable, Equatable {
    /// There is no member.
    case empty
    /// The file is longer than ``MembersFile/sizeLimit``.
    case tooLong
    /// There are more than ``MembersFile/memberLimit`` members.
    case tooMany
    /// The bytes of the line are not valid UTF-8.
    case notUTF8
    /// The line is not a member.
    case member(GroupMember.Diagnostic)
  }

  /// The problem without the contents of the line, which may be private.
  package var message: String {
    switch reason {
    case .empty: "the file has no members"
    case .tooLong: "the file has more than 64 MiB"
    case .tooMany: "the file has more than a million members"
    case .notUTF8: "the line is not UTF-8"
    case .member(let problem): "the line \(problem.message)"
    }
  }

  /// The correction, in the imperative.
  package var remedy: String {
    switch reason {
    case .empty: "write a subject, an e-mail address or \"@example.com\" on each line, or remove members_file"
    case .tooLong, .tooMany: "name the right file, or split the group"
    case .notUTF8: "save the file as UTF-8"
    case .member(let problem): problem.remedy
    }
  }

  /// For logs: the line and the problem.
  package var description: String { "line \(line): \(message)" }
}
