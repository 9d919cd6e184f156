import Foundation
import TemporaryDirectoryTesting
import Testing

// The demonstration, as a newcomer meets it.
//
// - One command starts everything and prints the address; there one signs in and is greeted by name.
// - Ctrl-C, or the end of the terminal, ends all of it, and leaves no file behind.
// - A number that is not a port is refused.

@SystemActor
@Suite("The demonstration")
struct DemoTests {
  /// A demonstration that has started, with its ports: the gateway's first.
  private func start(temporaryFolder: TemporaryDirectory) throws -> (demo: ServerProcess, ports: [UInt16]) {
    let ports = try (0..<4).map { _ in try FreePort.take() }
    let demo = try ServerProcess(
      Machine.binary("cordon"),
      [
        "demo", "--port", "\(ports[0])", "--simulator-port", "\(ports[1])", "--app-port", "\(ports[2])",
        "--admin-port", "\(ports[3])",
      ], environment: ["TMPDIR": temporaryFolder.path], directory: Machine.packageRoot.path)
    try demo.waitForLine(containing: "http://localhost:\(ports[0])", by: .seconds(60))
    return (demo, ports)
  }

  /// Waits until nothing of a demonstration is left.
  private func expectEnd(of demo: ServerProcess, _ ports: [UInt16], temporaryFolder: TemporaryDirectory) throws {
    #expect(try demo.waitForExit() == .code(0))
    for port in ports {
      try poll("port \(port) to be free") { (try? TCPConnection(port: port)) == nil ? () : nil }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporaryFolder.path) == [])
  }

  @Test("The end of its terminal ends the demonstration with all of its programs and files")
  func endOfTerminal() throws {
    let folder = try TemporaryDirectory()
    let (demo, ports) = try start(temporaryFolder: folder)
    defer { demo.stop() }
    #expect(try !FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    demo.signal(SIGHUP)
    try expectEnd(of: demo, ports, temporaryFolder: folder)
  }

  @Test("cordon demo prints an address at which a visitor signs in and is greeted by name; Ctrl-C ends it all")
  func demo() throws {
    let folder = try TemporaryDirectory()
    let (demo, ports) = try start(temporaryFolder: folder)
    defer { demo.stop() }
    // The first thing that a newcomer reads fits a terminal.
    let explanation = try demo.waitForLine(containing: "A time sheet without sign-in")
    #expect(explanation.count <= 80, "\(explanation)")

    let visitor = Visitor()
    let signIn = try visitor.open("http://localhost:\(ports[0])/")
    let button = HTMLTag.all(in: signIn.text).first {
      $0.name == "a" && $0["href"]?.contains("/.auth/authorize") == true
    }
    try visitor.follow(try #require(button?["href"]))
    try visitor.decide(.proceed(user: "anna"))
    let greeting = try visitor.carryBack()
    #expect(greeting.status == 200)
    #expect(greeting.text.contains("Anna"))

    demo.signal(SIGINT)
    try expectEnd(of: demo, ports, temporaryFolder: folder)
  }

  @Test(
    "A number that is not a port is refused with the option and the range",
    arguments: ["--port", "--simulator-port", "--app-port", "--admin-port"], ["0", "65536", "100000", "-1"])
  func ports(option: String, number: String) throws {
    let refused = try ServerProcess.run(
      Machine.binary("cordon"), ["demo", "\(option)=\(number)"], directory: Machine.packageRoot.path)
    #expect(refused.exit == .code(64), "\(refused)")
    #expect(
      refused.standardError.contains("\(option) \(number) is not a port: give a number from 1 to 65535"), "\(refused)")
  }
}
