import Foundation

/// A folder of `examples/`, started as its README says, on ports of the test's own: everything that it needs, and that
/// ends with it.
@SystemActor
final class Example {
  let apple: SimulatorProcess
  private let directory: TemporaryDirectory
  private let ports: [UInt16: UInt16]
  private var processes: [ServerProcess] = []

  /// The ports that the files of the examples name.
  private static let writtenPorts: [UInt16] = [8_080, 8_081, 8_082, 8_083, 8_090, 3_000, 9_901, 9_902, 9_903]

  /// Copies the folder, with other ports in every file, and starts Apple.
  init(_ name: String) throws {
    var ports: [UInt16: UInt16] = [:]
    for port in Self.writtenPorts { ports[port] = try FreePort.take() }
    apple = try SimulatorProcess(redirectURI: "http://localhost:\(ports[8_080] ?? 0)/.auth/callback")
    ports[8_090] = apple.port
    self.ports = ports
    directory = try TemporaryDirectory()
    let source = Machine.packageRoot.appending(path: "examples/\(name)")
    let files = FileManager.default.enumerator(atPath: source.path)
    while let file = files?.nextObject() as? String {
      var isFolder: ObjCBool = false
      let path = source.appending(path: file).path
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
      if isFolder.boolValue {
        try FileManager.default.createDirectory(
          atPath: "\(directory.path)/\(file)", withIntermediateDirectories: true)
      } else if !file.hasSuffix(".db") {
        try directory.write(replaced(String(contentsOfFile: path, encoding: .utf8)), to: file)
      }
    }
    try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey_ABC123DEFG.p8")
    try directory.write(GatewayConfiguration.sessionSecret, to: "session.key")
  }

  private func replaced(_ text: String) -> String {
    ports.reduce(text) { text, port in Self.replacing(port.key, by: port.value, in: text) }
  }

  /// The port as a number of its own, not as a part of a longer one.
  private static func replacing(_ port: UInt16, by other: UInt16, in text: String) -> String {
    var parts = text.components(separatedBy: "\(port)")
    var result = parts.removeFirst()
    for part in parts {
      let isPart = result.last?.isNumber == true || part.first?.isNumber == true
      result += "\(isPart ? port : other)\(part)"
    }
    return result
  }

  var path: String { directory.path }
  var origin: String { "http://localhost:\(port(8_080))" }

  /// The port that replaces one in the files.
  func port(_ written: UInt16) -> UInt16 { ports[written] ?? written }

  /// Starts a program in the folder, and waits until the port that replaces `written` has a listener.
  func start(
    _ executable: String, _ arguments: [String], listeningOn written: UInt16, environment: [String: String] = [:]
  ) throws {
    let process = try ServerProcess(executable, arguments, environment: environment, directory: path)
    processes.append(process)
    let port = port(written)
    try process.waitUntilReady("port \(port) to be open", by: .seconds(30)) {
      try TCPConnection(port: port).close()
      return true
    }
  }

  func startGateway(listeningOn written: UInt16 = 8_080, environment: [String: String] = [:]) throws {
    try start(
      Machine.binary("cordon"), ["run", "--config", "gateway.conf"], listeningOn: written, environment: environment)
  }

  /// Somebody who has opened a page, been led to sign in, and come back.
  func signedIn(as user: String = "anna", at path: String = "/") throws -> (visitor: Visitor, page: Visitor.Page) {
    let visitor = Visitor()
    let signIn = try visitor.open(origin + path)
    let button = HTMLTag.all(in: signIn.text).first {
      $0.name == "a" && $0["href"]?.contains("/.auth/authorize") == true
    }
    guard let link = button?["href"] else {
      throw HarnessError.missing("the sign-in page; open is \(signIn.address): \(signIn.text)")
    }
    try visitor.follow(link)
    try visitor.decide(.proceed(user: user))
    return (visitor, try visitor.carryBack())
  }

  func stop() {
    for process in processes.reversed() { process.stop() }
    apple.stop()
  }
}
