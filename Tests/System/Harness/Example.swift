import Foundation
import TemporaryDirectoryTesting

/// A folder of `examples/`, started as its README says, on ports of the test's own: everything that it needs, and that
/// ends with it.
@SystemActor
final class Example {
  let apple: SimulatorProcess
  private let directory: TemporaryDirectory
  private let ports: [UInt16: UInt16]
  private var processes: [ServerProcess] = []
  private let scheme: String

  /// The ports that the files of the examples name.
  private static let writtenPorts: [UInt16] = [
    8_080, 8_081, 8_082, 8_083, 8_090, 3_000, 3_001, 3_002, 9_901, 9_902, 9_903,
  ]

  /// Copies the folder, with other ports in every file, and starts Apple.
  /// - Parameter scheme: of `public_url`, instead of `http`.
  init(_ name: String, scheme: String = "http") throws {
    self.scheme = scheme
    var ports: [UInt16: UInt16] = [:]
    for port in Self.writtenPorts { ports[port] = try FreePort.take() }
    apple = try SimulatorProcess(redirectURI: "\(scheme)://localhost:\(ports[8_080] ?? 0)/.auth/callback")
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
    ports.reduce(text.replacing("http://localhost:8080", with: "\(scheme)://localhost:8080")) { text, port in
      Self.replacing(port.key, by: port.value, in: text)
    }
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
  var origin: String { "\(scheme)://localhost:\(port(8_080))" }

  /// Changes a file of the folder.
  func change(_ file: String, _ change: (String) -> String) throws {
    try directory.write(change(try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)), to: file)
  }

  /// Lets a server that gives up root read the folder, write to some folders in it and run some programs. The keys stay
  /// private.
  func share(_ folders: [String], programs: [String]) throws {
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    for case let file as String in files.enumerator(atPath: path) ?? .init() where file.contains("/") {
      var isFolder: ObjCBool = false
      _ = files.fileExists(atPath: "\(path)/\(file)", isDirectory: &isFolder)
      try files.setAttributes(
        [.posixPermissions: isFolder.boolValue ? 0o755 : 0o644], ofItemAtPath: "\(path)/\(file)")
    }
    for folder in folders {
      try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: "\(path)/\(folder)")
    }
    for program in programs {
      try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(path)/\(program)")
    }
  }

  /// The port that replaces one in the files.
  func port(_ written: UInt16) -> UInt16 { ports[written] ?? written }

  /// Starts a program in the folder, and waits until the port that replaces `written` has a listener.
  @discardableResult
  func start(
    _ executable: String, _ arguments: [String], listeningOn written: UInt16, environment: [String: String] = [:],
    by deadline: Deadline = .seconds(30)
  ) throws -> ServerProcess {
    let process = try ServerProcess(executable, arguments, environment: environment, directory: path)
    processes.append(process)
    let port = port(written)
    try process.waitUntilReady("port \(port) to be open", by: deadline) {
      try TCPConnection(port: port).close()
      return true
    }
    return process
  }

  /// Runs the folder's `start.sh`, which installs and starts the application. Returns when it listens on the port that
  /// replaces 3000.
  @discardableResult
  func startApplication(_ arguments: String..., environment: [String: String] = [:]) throws -> ServerProcess {
    try start(
      Machine.program("bash", package: "bash"), ["start.sh"] + arguments, listeningOn: 3_000, environment: environment,
      by: .seconds(180))
  }

  /// Waits until the port that replaces `written` has a listener, of a program that was started before.
  func waitForListener(on written: UInt16) throws {
    try poll("port \(port(written)) to be open", by: .seconds(90)) { try? TCPConnection(port: port(written)).close() }
  }

  @discardableResult
  func startGateway(
    listeningOn written: UInt16 = 8_080, environment: [String: String] = [:]
  ) throws -> ServerProcess {
    try start(
      Machine.binary("cordon"), ["run", "--config", "gateway.conf"], listeningOn: written, environment: environment)
  }

  /// Somebody who has opened a page, been led to sign in, and come back.
  func signedIn(as user: String = "anna", at path: String = "/") throws -> (visitor: Visitor, page: Visitor.Page) {
    let visitor = Visitor()
    // A gateway listens before its store has answered: on a busy disk that takes a moment.
    let signIn = try poll("the gateway to reach its store", by: .seconds(90)) {
      let page = try visitor.open(origin + path)
      return page.status == 503 ? nil : page
    }
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

  /// Signs somebody else in at the same browser, without signing out before.
  @discardableResult
  func signIn(_ visitor: Visitor, as user: String, at path: String = "/") throws -> Visitor.Page {
    try visitor.open("\(origin)/.auth/authorize?return_to=\(FormEncoding.escape(path))")
    try visitor.decide(.proceed(user: user))
    return try visitor.carryBack()
  }

  func stop() {
    for process in processes.reversed() { process.stop() }
    apple.stop()
  }
}
