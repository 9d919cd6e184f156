import Foundation
import Testing

// The sections of RFC 9113 and of HPACK, by a peer that keeps to each or breaks it (conformance.py, whose list this
// is).

@SystemActor
@Suite("HTTP/2, section by section", .serialized, .http2Site)
struct HTTP2ConformanceTests {
  private nonisolated static let file = Machine.packageRoot.appending(path: "Tests/System/HTTP2/conformance.py").path

  /// The names of the cases.
  private static func cases() throws -> [String] {
    let run = try ServerProcess.run("/usr/bin/python3", [file, "--list"])
    let names = run.standardOutput.split(separator: "\n").map(String.init)
    guard names.count > 100 else { throw HarnessError.malformed(run.standardError) }
    return names
  }

  @Test("A section is answered as it says, and no application hears of what breaks it", arguments: try await cases())
  func section(name: String) throws {
    let site = try Site.current
    try site.surviving {
      let run = try ServerProcess.run("/usr/bin/python3", [Self.file, "\(site.gateway.configuration.port)", name])
      #expect(run.exit == .code(0), "\(run.standardError.split(separator: "\n").last ?? "")")
    }
    #expect(!site.upstream.requests.contains { $0.target.contains("never") })
  }
}
