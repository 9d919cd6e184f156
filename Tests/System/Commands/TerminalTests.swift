import Foundation
import Glibc
import TemporaryDirectoryTesting
import Testing

// What commands print where somebody reads it.
//
// - On a terminal no line is longer than it, and what goes on below is indented; elsewhere a line stays a line.

@SystemActor
@Suite("Commands on a terminal")
struct TerminalTests {
  /// The output of a command on a terminal of so many columns.
  private func output(
    of subcommand: String, config file: String, columns: UInt16, in directory: String
  ) throws -> [Substring] {
    var (terminal, other): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&terminal, &other, nil, nil, &size) == 0 else { throw HarnessError.system("openpty", errno: errno) }
    defer {
      close(terminal)
      close(other)
    }
    let name = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(other)")
    let end = "end of the output"
    let command = try """
    '\(Machine.binary("cordon"))' \(subcommand) --config '\(file)' > '\(name)'
    status=$?
    printf '\(end)' > '\(name)'
    exit $status
    """
    let result = try ServerProcess.run("/bin/sh", ["-c", command], directory: directory)
    #expect(result.exit == .code(0), "\(result.standardError)")
    // It has ended, but the kernel may still be moving the last part from one end of the terminal to the other.
    var output: [UInt8] = []
    while !output.suffix(end.utf8.count).elementsEqual(end.utf8) {
      let part = [UInt8](unsafeUninitializedCapacity: 65_536) { bytes, count in
        count = max(0, read(terminal, bytes.baseAddress, bytes.count))
      }
      if part.isEmpty { throw HarnessError.system("read", errno: errno) }
      output += part
    }
    return String(decoding: output.dropLast(end.utf8.count), as: UTF8.self).split(whereSeparator: \.isNewline)
  }

  @Test("The output of check fits the terminal; elsewhere each part is one line")
  func fits() throws {
    let directory = try TemporaryDirectory()
    let configuration = try GatewayConfiguration()
    let file = try configuration.install(in: directory)
    // The path of the store, which is not broken, fits in.
    let narrow = try output(of: "check", config: file, columns: 80, in: directory.path)
    #expect(narrow.allSatisfy { $0.count <= 80 }, "\(narrow)")
    let goingOn = narrow.filter { $0.hasPrefix(String(repeating: " ", count: 14)) }
    #expect(!goingOn.isEmpty)
    let elsewhere = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    let lines = elsewhere.standardOutput.split(separator: "\n")
    #expect(lines.count == narrow.count - goingOn.count)
    #expect(lines.contains { $0.count > 80 })
  }

  @Test("Lists of a gateway fit the terminal, the last columns of a row below it; elsewhere a row is one line")
  func list() throws {
    let site = try Site(adjust: { $0["admin", "token_file"] = "\"admin.token\"" })
    defer { site.stop() }
    for user in ["anna", "ben"] { _ = try site.signedIn(as: user) }
    let directory = site.gateway.directory.path
    for columns in [80, 100] as [UInt16] {
      let lines = try output(of: "accounts list", config: site.gateway.file, columns: columns, in: directory)
      #expect(lines.allSatisfy { $0.count <= Int(columns) }, "\(lines)")
      let subjects = try ["SUBJECT", site.apple.subject(of: "anna"), site.apple.subject(of: "ben")]
      #expect(Set(lines.filter { !$0.hasPrefix("  ") }.map { String($0.prefix { $0 != " " }) }) == Set(subjects))
      #expect(lines.count { $0.hasPrefix("  ") && $0.contains(" UTC") } == 2, "\(lines)")
      #expect(lines.count { $0.contains("ben@example.org") } == 1, "\(lines)")
      let place = try #require(lines.first { $0.contains("LAST SEEN") }?.prefix { $0 != "L" }.count)
      #expect(lines.contains { $0.dropFirst(place).wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d UTC/) != nil }, "\(lines)")
    }
    let elsewhere = try ServerProcess.run(
      Machine.binary("cordon"), ["accounts", "list", "--config", site.gateway.file], directory: directory)
    #expect(elsewhere.standardOutput.split(separator: "\n").count == 3, "\(elsewhere)")
  }

  @Test("Columns after a name in Chinese characters, Hangul or emoji are aligned")
  func wideNames() throws {
    let site = try Site(adjust: { $0["admin", "token_file"] = "\"admin.token\"" })
    defer { site.stop() }
    // Each of these takes four columns and has two characters.
    for (user, name) in [("plain", "Anna"), ("kanji", "田中"), ("hangul", "민준"), ("emoji", "🌻🌻")] {
      try site.apple.add(user: [
        "id": user, "first_name": name, "last_name": "B", "email": "\(user)@example.com", "email_verified": true,
      ])
      _ = try site.signedIn(as: user)
    }
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["accounts", "list", "--config", site.gateway.file],
      directory: site.gateway.directory.path)
    let lines = result.standardOutput.split(separator: "\n")
    func place(_ user: String) throws -> Int {
      let line = try #require(lines.first { $0.contains("\(user)@example.com") }, "\(lines)")
      return line.distance(from: line.startIndex, to: try #require(line.range(of: "\(user)@")).lowerBound)
    }
    for user in ["kanji", "hangul", "emoji"] { #expect(try place(user) == place("plain") - 2, "\(lines)") }
  }
}
