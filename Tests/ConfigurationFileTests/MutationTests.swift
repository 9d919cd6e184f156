import Foundation
import RandomTesting
import Testing

@testable import ConfigurationFile

/// Any bytes of a file lead to settings or diagnostics, and never end the process.
@Suite("Any bytes at all")
struct MutationTests {
  private static let tokens = [
    "\"", "'", "\"\"\"", "'''", "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "#", "\n", "\r\n", "\\", "\\u0000",
    "\\U0010FFFF", "${", "${SECRET}", "$${", "}", "9223372036854775808", "-1", "1e999", "nan", "true", "1979-05-27",
    "\u{FEFF}", "\u{2028}", "\u{1F34E}", "route", "[route]", "[[listen]]", "listen.address", "\u{0}", "99999999999d",
  ].map { Array($0.utf8) }

  @Test("Mutated configurations never bring the process down, and never tell a secret", arguments: 0..<4)
  func mutations(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let cases = try GoldenTests.names.map {
      [UInt8](try Data(contentsOf: GoldenTests.folder.appendingPathComponent("\($0).conf")))
    }
    for round in 0..<(Int(ProcessInfo.processInfo.environment["CORDON_MUTATIONS"] ?? "") ?? 600) {
      var bytes = cases.randomElement(using: &random) ?? []
      for _ in 0...Int.random(in: 0..<8, using: &random) { mutate(&bytes, &random) }
      do throws(ConfigurationError) {
        _ = try Sandbox.parse(bytes)
      } catch {
        let text = error.description
        #expect(!error.problems.isEmpty)
        #expect(!text.contains(Sandbox.secretValue), "seed \(seed), round \(round)")
        #expect(text.split(separator: "\n").count == error.problems.count, "a complaint is one line")
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
        #expect(error.problems.allSatisfy { $0.line > 0 && $0.column > 0 && !$0.remedy.isEmpty && !$0.problem.isEmpty })
      }
    }
  }

  @Test(
    "Errors on which the parser would trap are reported before it runs",
    arguments: [
      "[", "[=]", "[\r a]", "[[\ra]]", "[\n]", "[.a]", "[ä]", "[[ ]]", "a = [}", "a = [1, }", "a = { b = [ } }",
      "[\"a\".]", "[a.=]",
      "a = [\u{2028}]", "a = [1,\u{85}", "a = é", "a = 07:3x", "a = 07:32:00", "a = 1979-05-27T0", "a = 1-1", "a = yes",
    ])
  func assertions(text: String) {
    #expect(throws: DocumentError.self) { try Document(Array(text.utf8)) }
  }

  @Test("Every beginning of a configuration is settings, or diagnostics with a place and a remedy")
  func prefixes() throws {
    let whole = [UInt8](try Data(contentsOf: GoldenTests.folder.appendingPathComponent("everything.conf")))
    var (accepted, refused) = (0, 0)
    for length in Array(stride(from: 0, to: whole.count, by: 3)) + [whole.count] {
      do throws(ConfigurationError) {
        _ = try Sandbox.parse(whole[..<length])
        accepted += 1
      } catch {
        refused += 1
        #expect(!error.problems.isEmpty, "\(length) bytes")
        #expect(
          error.problems.allSatisfy { $0.line > 0 && $0.column > 0 && !$0.remedy.isEmpty && !$0.problem.isEmpty },
          "\(length) bytes")
      }
    }
    #expect(accepted > 0 && refused > 0, "\(accepted) accepted, \(refused) refused")
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededNumbers) {
    let at = Int.random(in: 0...bytes.count, using: &random)
    let end = min(bytes.count, at + Int.random(in: 0..<24, using: &random))
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes.insert(contentsOf: Self.tokens.randomElement(using: &random) ?? [], at: at)
    case 1: bytes.removeSubrange(at..<end)
    case 2: bytes.insert(contentsOf: bytes[at..<end], at: at)
    case 3: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
    case 4: if at < bytes.count { bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
    default: bytes.replaceSubrange(at..<end, with: Self.tokens.randomElement(using: &random) ?? [])
    }
  }
}
