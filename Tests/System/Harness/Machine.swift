import Foundation
import TemporaryDirectoryTesting

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
