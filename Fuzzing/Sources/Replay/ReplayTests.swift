import Foundation
import Testing

/// Runs every seed and every case that the fuzzer has found, without the fuzzer. These tests are compiled together with
/// the invariants themselves, into a target of the package above.
@Suite("Seeds and found cases of the fuzzer")
struct ReplayTests {
  /// One file of `Seeds/TARGET` or `Cases/TARGET`.
  struct Input: Sendable, CustomTestStringConvertible {
    let target: String
    let file: URL

    var testDescription: String { "\(target)/\(file.lastPathComponent)" }
  }

  @Test("Every invariant holds for each of its seeds and cases", arguments: Invariant.all.map(\.name))
  func holds(target: String) async throws {
    let invariant = try #require(Invariant.all.first { $0.name == target })
    let inputs = try Self.inputs(of: target)
    #expect(inputs.count > 5, "there are hardly any seeds")
    for input in inputs {
      let bytes = [UInt8](try Data(contentsOf: input.file))
      do {
        switch invariant.check {
        case .immediate(let check): try check(bytes)
        case .suspending(let check): try await check(bytes)
        }
      } catch {
        Issue.record("\(input.testDescription): \(error)")
      }
    }
  }

  @Test("Every folder of seeds and cases belongs to an invariant")
  func folders() throws {
    for kind in ["Seeds", "Cases"] {
      let names = try FileManager.default.contentsOfDirectory(atPath: Self.fuzzing.appending(path: kind).path)
      #expect(Set(names).subtracting(Invariant.all.map(\.name)).isEmpty)
    }
  }

  @Test("Most seeds are taken by the readers, so that the fuzzer begins beyond their first refusal")
  func seedsAreTaken() throws {
    let taken = try Self.inputs(of: "request-head").filter { input in
      let bytes = [UInt8](try Data(contentsOf: input.file))
      return LLHTTPReading.request(bytes).request != nil
    }
    #expect(taken.count > 10)
  }

  private static let fuzzing = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func inputs(of target: String) throws -> [Input] {
    try ["Seeds", "Cases"].flatMap { kind -> [Input] in
      let folder = fuzzing.appending(path: "\(kind)/\(target)")
      guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
      return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        .sorted { $0.lastPathComponent < $1.lastPathComponent }.map { Input(target: target, file: $0) }
    }
  }
}
