import Foundation
import Testing

@testable import Operations

// The labels of rare events: each value that the source counts is exposed as 0 from the start.

@Suite("Known label values")
struct KnownLabelTests {
  private let source: String

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/Gateway")
    var text = ""
    let files = FileManager.default.enumerator(atPath: root.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift") else { continue }
      text += try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }
    source = text
  }

  private func values(_ patterns: Regex<(Substring, Substring)>...) -> Set<String> {
    Set(patterns.flatMap { source.matches(of: $0).map { String($0.1) } })
  }

  @Test("Every reason of a failed sign-in is a known outcome")
  func signIns() {
    let reasons = values(
      /SignInError\(\.\w+, "([a-z_]+)"/, /refused\(reason: "([a-z_]+)"/, /otherwise: "([a-z_]+)"/,
      /signIns\.count\("([a-z_]+)"/)
    #expect(reasons.count > 25)
    #expect(reasons.subtracting(KnownLabels.signIns) == [])
  }

  @Test("Every operation of the store that can fail is a known one")
  func storeOperations() {
    let operations = values(
      /storeHealth\.failed\("([a-z_]+)"/, /didNotAnswer\("([a-z_]+)"/, /storeFailures\.count\("([a-z_]+)"/)
    #expect(operations.count > 15)
    #expect(operations == Set(KnownLabels.storeOperations))
  }

  @Test("Every kind of attempt, relay and ended session is a known one")
  func others() {
    #expect(values(/signInAttempts\.count\("([a-z]+)"/) == Set(KnownLabels.signInAttempts))
    let kinds = source.matches(of: /enum Kind: String \{(?s:.*?)\n  \}/).map { String($0.output) }.joined()
    #expect(KnownLabels.clientLimitRefusals.allSatisfy { kinds.contains("\"\($0)\"") || kinds.contains("case \($0)") })
    #expect(values(/relays\.count\("([a-z_]+)"/) == Set(KnownLabels.relays))
    let endings = source.matches(of: /extension SessionEnding \{(?s:.*?)\n\}/).map { String($0.output) }.joined()
    let ended = Set(endings.matches(of: /: "([a-z_]+)"/).map { String($0.1) })
    #expect(ended.union(values(/sessionsEnded\.count\("([a-z_]+)"/)) == Set(KnownLabels.sessionsEnded))
    let labels = source.matches(of: /extension RevalidationResult \{(?s:.*?)\n\}/).map { String($0.output) }.joined()
    let counted = Set(labels.matches(of: /: "([a-z_]+)"/).map { String($0.1) })
    #expect(counted.union(values(/checks\.count\("([a-z_]+)"/)) == Set(KnownLabels.checks))
  }
}
