import Foundation
import Glibc
import Testing

// What commands print where somebody reads it.
//
// - On a terminal no line is longer than it, and what goes on below is indented; elsewhere a line stays a line.

@SystemActor
@Suite("Commands on a terminal")
struct TerminalTests {
  /// The output of `cordon check` on a terminal of so many columns.
  private func check(_ file: String, columns: UInt16, in directory: String) throws -> [Substring] {
    var (terminal, other): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&terminal, &other, nil, nil, &size) == 0 else { throw HarnessError.system("openpty", errno: errno) }
    defer {
      close(terminal)
      close(other)
    }
    let name = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(other)")
    let command = try "exec '\(Machine.binary("cordon"))' check --config '\(file)' > '\(name)'"
    let result = try ServerProcess.run("/bin/sh", ["-c", command], directory: directory)
    #expect(result.exit == .code(0), "\(result.standardError)")
    // It has ended: all that it wrote waits in the terminal, which is still open at the other end.
    let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { bytes, count in
      count = max(0, read(terminal, bytes.baseAddress, bytes.count))
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
  }

  @Test("The output of check fits the terminal; elsewhere each part is one line")
  func fits() throws {
    let directory = try TemporaryDirectory()
    let configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:9", apple: "http://127.0.0.1:9")
    let file = try configuration.install(in: directory)
    let narrow = try check(file, columns: 60, in: directory.path)
    #expect(narrow.allSatisfy { $0.count <= 60 }, "\(narrow)")
    let goingOn = narrow.filter { $0.hasPrefix(String(repeating: " ", count: 14)) }
    #expect(!goingOn.isEmpty)
    let elsewhere = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    let lines = elsewhere.standardOutput.split(separator: "\n")
    #expect(lines.count == narrow.count - goingOn.count)
    #expect(lines.contains { $0.count > 60 })
  }
}
