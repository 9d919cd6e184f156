import Foundation
import Testing

// Examples with real applications, started as they stand in examples/. `make test-applications` runs them; `make test`
// does not, because they need more packages of Debian.
//
// - Apache over TLS: CGI programs read REMOTE_USER, redirects stay on https:, WebDAV copies and moves.

@SystemActor
@Suite("Real applications")
struct ApplicationTests {
  @Test("Apache's CGI programs read REMOTE_USER, and its redirects and WebDAV work behind TLS")
  func apache() throws {
    let example = try Example("apache-remote-user", scheme: "https")
    defer { example.stop() }
    let tls = try TLSFolder()
    try example.change("gateway.conf") {
      $0.replacing(
        "[upstream]\n",
        with: "tls_certificate_file = \"\(tls.path)/one.pem\"\ntls_private_key_file = \"\(tls.path)/one.key\"\n\n"
          + "[upstream]\n", maxReplacements: 1)
    }
    try example.share(["dav"], programs: ["cgi/hello"])
    try example.start(
      Machine.program("apache2", package: "apache2-bin"),
      ["-d", example.path, "-f", "apache.conf", "-D", "FOREGROUND"], listeningOn: 3_000)
    try example.startGateway()
    let cookie = try signIn(example.origin)

    func ask(_ path: String, _ options: String...) throws -> (status: String, text: String) {
      let run = try ServerProcess.run(
        Machine.program("curl", package: "curl"),
        ["-sS", "-i", "--max-time", "20", "--cacert", "\(tls.path)/ca.pem"] + options + [example.origin + path])
      #expect(run.exit == .code(0), "\(run.standardError)")
      let status = run.standardOutput.split(separator: " ").dropFirst().first.map { String($0.prefix(3)) }
      return (status ?? "", run.standardOutput)
    }
    let session = "Cookie: \(cookie)"
    let forged = "Remote-User: mallory"
    let hello = try ask("/hello", "-H", session, "-H", forged, "-H", "Remote_User: mallory").text
    #expect(hello.contains("REMOTE_USER=anna.bergstrom\n") && hello.contains("HTTPS=on"), "\(hello)")
    #expect(try ask("/public/hello", "-H", forged).text.contains("REMOTE_USER=\n"))
    #expect(try ask("/old", "-H", session).text.contains("ocation: \(example.origin)/old/"))
    for (method, name) in [("COPY", "copy.txt"), ("MOVE", "moved.txt")] {
      let source = method == "COPY" ? "/dav/note.txt" : "/dav/copy.txt"
      let answer = try ask(
        source, "-H", session, "-X", method, "-H", "Destination: \(example.origin)/dav/\(name)")
      #expect(answer.status == "201", "\(method): \(answer.text)")
      #expect(try ask("/dav/\(name)", "-H", session).text.contains("shared over WebDAV"))
    }
    #expect(try ask("/dav/copy.txt", "-H", session).status == "404")
  }

  /// Signs Anna in over TLS; returns the session's cookie.
  private func signIn(_ origin: String) throws -> String {
    let folder = Machine.packageRoot.appending(path: "Benchmarks").path
    let run = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", "import sys; sys.path.insert(0, sys.argv[1]); import sign_in; print(sign_in.sign_in(sys.argv[2]))"]
        + [folder, origin])
    guard run.exit == .code(0) else { throw HarnessError.malformed(run.standardError) }
    return run.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
