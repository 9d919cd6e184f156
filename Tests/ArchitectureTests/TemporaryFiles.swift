import Foundation
import TemporaryDirectoryTesting
import Testing

// The temporary files of the tests.
//
// - Tests and their support make them by TemporaryDirectory only.
// - It removes its folder with the last reference to it, or at the exit of the process.

@Suite("The temporary files of the tests")
struct TemporaryFiles {
  /// Never released.
  private static let held = Result { try TemporaryDirectory() }

  @Test("Tests make temporary files by TemporaryDirectory only, which removes them")
  func onePlace() throws {
    let root = try SourceTree.current.get().root
    // In pieces, so that this file does not show them.
    let signs = ["temporaryDir" + "ectory", "NSTemp" + "orary", "mk[ds]?" + "temp", "\"/t" + "mp/"]
    let sign = try Regex(signs.joined(separator: "|"))
    var found: [String] = []
    for folder in ["Sources", "Tests", "Fuzzing/Sources"] {
      let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      while let file = files?.nextObject() as? String {
        let isShipped = folder == "Sources" && file.split(separator: "/").first?.hasSuffix("Testing") == false
        guard file.hasSuffix(".swift"), !isShipped else { continue }
        let text = try String(contentsOf: root.appending(path: "\(folder)/\(file)"), encoding: .utf8)
        if try sign.firstMatch(in: text) != nil { found.append("\(folder)/\(file)") }
      }
    }
    #expect(found == ["Sources/TemporaryDirectoryTesting/TemporaryDirectory.swift"])
  }

  @Test("A temporary folder is for its owner only, and removed with everything in it when it is released")
  func release() throws {
    let files = FileManager.default
    func use() throws -> String {
      let folder = try TemporaryDirectory()
      try files.createDirectory(atPath: folder.file("deeper"), withIntermediateDirectories: false)
      let file = try folder.write("text", to: "deeper/file", mode: 0o640)
      for (path, mode) in [(folder.path, 0o700), (file, 0o640)] {
        #expect(try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode, "\(path)")
      }
      return folder.path
    }
    let path = try use()
    #expect(!path.isEmpty && !files.fileExists(atPath: path))
  }

  @Test("A temporary folder that is never released is removed when the process exits")
  func exitOfProcess() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
      print(try TemporaryFiles.held.get().path)
      exit(EXIT_SUCCESS)
    }
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    let path = try #require(output.split(separator: "\n").last { $0.hasPrefix("/") })
    #expect(!FileManager.default.fileExists(atPath: String(path)))
  }
}
