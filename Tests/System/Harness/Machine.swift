import Foundation

/// Paths of the package, of its debug binaries and of programs of the machine.
enum Machine {
  /// The folder of `Package.swift`.
  static let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// A program of this package, built into the folder of the test bundle.
  static func binary(_ name: String) throws -> String {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = URL(fileURLWithPath: bundle).deletingLastPathComponent().appending(path: name).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw HarnessError.missing("\(path): build it first (swift build --build-tests)")
    }
    return path
  }

  /// A program that a Debian package brings.
  static func program(_ name: String, package: String) throws -> String {
    for folder in ["/usr/bin", "/usr/sbin", "/bin"] {
      let path = "\(folder)/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw HarnessError.missing("\(name): install the Debian package \(package) (make test does)")
  }

  /// A program of a package of PyPI that an example's requirements.txt names.
  static func pythonProgram(_ name: String) throws -> String {
    let path = packageRoot.appending(path: ".build/applications/bin/\(name)").path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw HarnessError.missing("\(path): run Scripts/install-python-packages (make test-applications does)")
    }
    return path
  }

  /// The folder for screenshots that people look at.
  static let screenshots = packageRoot.appending(path: ".build/screenshots")
}

/// A folder that goes away with the value.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "cordon-test-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file, for its owner only, and answers its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let file = "\(path)/\(name)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    return file
  }
}

/// The key of a Sign in with Apple registration, made for each test run.
struct AppleKey: Sendable {
  /// The `.p8` as Apple hands it out: PKCS #8 in PEM.
  let privatePEM: String
  /// The public part, which Apple keeps.
  let publicPEM: String

  static let shared = Result { try AppleKey() }

  init() throws {
    let openssl = try Machine.program("openssl", package: "openssl")
    let made = try ServerProcess.run(
      openssl, ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    privatePEM = made.standardOutput
    let folder = try TemporaryDirectory()
    let file = try folder.write(privatePEM, to: "key.p8")
    publicPEM = try ServerProcess.run(openssl, ["pkey", "-in", file, "-pubout"]).standardOutput
    guard publicPEM.contains("BEGIN PUBLIC KEY") else { throw HarnessError.missing("a key made by openssl") }
  }
}
