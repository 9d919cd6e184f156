import Foundation
import TemporaryDirectoryTesting
import Testing

// `cordon store reseal` moves every token to the first secret, while the gateway runs; then the old one can go.

@SystemActor
@Suite("Resealing")
struct ResealTests {
  @Test("reseal moves every token to the first secret while the gateway runs, and then the old secret can go")
  func reseal() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    _ = try site.signedIn(as: "ben")
    let directory = site.gateway.directory
    try directory.write("the second secret of the tests, long enough to be one", to: "new.key")
    var both = site.gateway.configuration
    both["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    try site.gateway.restart(with: both)

    // A browser that asks who it is gets its cookie again, by the new secret; after that, never again.
    let old = try #require(anna.jar["__Host-cordon"])
    #expect(try anna.fetch(site.own("session")).status == 200)
    let renewed = try #require(anna.jar["__Host-cordon"])
    #expect(renewed != old)
    #expect(try anna.fetch(site.own("session")).fields["Set-Cookie"] == nil)

    #expect(try DoctorReport(of: site.gateway).line("store").contains("cordon store reseal"))
    let command = ["store", "reseal", "--config", site.gateway.file]
    let first = try ServerProcess.run(Machine.binary("cordon"), command, directory: directory.path)
    #expect(first.exit == .code(0), "\(first.standardError)")
    #expect(first.standardOutput.contains("2 refresh tokens are now sealed"))
    let second = try ServerProcess.run(Machine.binary("cordon"), command, directory: directory.path)
    #expect(second.standardOutput.contains("already"))

    var bare = both
    bare["session", "secret_files"] = "[\"new.key\"]"
    try site.gateway.restart(with: bare)
    #expect(try anna.fetch(site.own("session")).status == 200)
    let stranger = try site.gateway.client.get("/.auth/session", fields: [("Cookie", "__Host-cordon=\(old)")])
    #expect(stranger.status == 401)
  }
}
