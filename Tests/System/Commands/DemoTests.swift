import Foundation
import Testing

// The demonstration, as a newcomer meets it.
//
// - One command starts everything and prints the address; there one signs in and is greeted by name.
// - Ctrl-C ends all of it.
// - A number that is not a port is refused.

@SystemActor
@Suite("The demonstration")
struct DemoTests {
  @Test("cordon demo prints an address at which a visitor signs in and is greeted by name; Ctrl-C ends it all")
  func demo() throws {
    let ports = try (0..<4).map { _ in try FreePort.take() }
    let demo = try ServerProcess(
      Machine.binary("cordon"),
      [
        "demo", "--port", "\(ports[0])", "--simulator-port", "\(ports[1])", "--app-port", "\(ports[2])",
        "--admin-port", "\(ports[3])",
      ], directory: Machine.packageRoot.path)
    defer { demo.stop() }
    try demo.waitForLine(containing: "http://localhost:\(ports[0])", by: .seconds(60))
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
    _ = try demo.waitForExit()
    for port in ports {
      try poll("port \(port) to be free") { (try? TCPConnection(port: port)) == nil ? () : nil }
    }
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
