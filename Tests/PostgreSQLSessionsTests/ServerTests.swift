import Foundation
import PostgreSQLServerTesting
import Testing

@Suite("The server of the tests")
struct ServerTests {
  /// The segments of System V's shared memory that the system has: sysvipc(7), `/proc/sysvipc/shm`.
  private func segments() throws -> [Substring] {
    let file = try #require(FileHandle(forReadingAtPath: "/proc/sysvipc/shm"))
    defer { try? file.close() }
    let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    return table.split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst().first }
  }

  @Test(
    "A server that is ended leaves no file and no shared memory behind, also if it was frozen",
    arguments: [false, true])
  func end(isFrozen: Bool) async throws {
    let server = try await PostgreSQLServer.started()
    let data = try server.query("SHOW data_directory")
    #expect(try server.query("SHOW dynamic_shared_memory_type") == "mmap")
    // The seventh line has the key and the identifier of the segment.
    let lines = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8).split(separator: "\n")
    let segment = try #require(lines.dropFirst(6).first?.split(separator: " ").last)
    #expect(try segments().contains(segment))
    if isFrozen { server.freeze() }
    server.end()
    #expect(try !segments().contains(segment))
    #expect(!FileManager.default.fileExists(atPath: URL(fileURLWithPath: data).deletingLastPathComponent().path))
  }
}
