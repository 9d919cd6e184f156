import Foundation
import Testing

@testable import ConfigurationFile

/// Each `Golden/NAME.conf` means exactly what `NAME.expected` says: the settings, or every complaint.
///
/// After a change that is meant, `CORDON_UPDATE_GOLDEN=1` rewrites the expectations; read the difference.
@Suite("Configurations and what they mean")
struct GoldenTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")

  static let names: [String] = {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".conf") }.map { String($0.dropLast(5)) }.sorted()
  }()

  @Test("A configuration means what is written beside it", arguments: names)
  func golden(name: String) throws {
    let bytes = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent("\(name).conf")))
    let meaning = Sandbox.meaning(of: bytes)
    let file = Self.folder.appendingPathComponent("\(name).expected")
    if ProcessInfo.processInfo.environment["CORDON_UPDATE_GOLDEN"] == "1" {
      try Data(meaning.utf8).write(to: file)
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    #expect(meaning == expected)
    let complaints = meaning.split(separator: "\n").filter { $0.hasPrefix("gateway.conf:") }
    #expect(!complaints.joined().contains(Sandbox.secretValue), "the value of an environment variable was told")
  }

  @Test("There are cases, and no expectation is left without its case")
  func complete() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Self.names.count >= 20)
    #expect(files.filter { $0.hasSuffix(".expected") }.map { String($0.dropLast(9)) }.sorted() == Self.names)
  }

  @Test("For each number, size and duration there is a value out of its bounds, and the complaint tells them")
  func boundsOfEachKey() throws {
    let complaints = try ["bounds-1", "bounds-2"].map { name in
      try String(contentsOf: Self.folder.appendingPathComponent("\(name).expected"), encoding: .utf8)
    }.joined()
    let bounded = ConfigurationSchema.descriptions.filter { ["number", "size", "duration"].contains($0.typeName) }
    #expect(bounded.count > 50)
    for key in bounded.map(\.key) {
      #expect(complaints.contains(" \(key) is ") || complaints.contains(" \(key): "), "\(key)")
    }
  }
}
