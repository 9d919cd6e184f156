import Foundation
import TemporaryDirectoryTesting

/// Certificates and keys made once per test run by the `openssl` command.
enum TestCertificates {
  /// A certificate with its key, as paths.
  struct Files: Sendable {
    let certificate: String
    let key: String
  }

  static let authority = "ca.pem"
  /// Issued by the authority, and the issuer of ``chained``.
  static let intermediate = "intermediate.pem"

  /// Issued by the authority for app.example.test, *.wild.example.test and 127.0.0.1.
  static let valid = Self.file("valid")
  /// The same names, expired.
  static let expired = Self.file("expired")
  /// Only a common name, as certificates had long ago.
  static let commonNameOnly = Self.file("cn")
  /// The same names as valid, issued by an intermediate authority that is second in the file.
  static let chained = Self.file("chained")
  /// The same names as valid, with a key of kind Ed25519.
  static let edwards = Self.file("edwards")

  /// The same names as valid, for servers only, and for clients only (extended key usage, RFC 5280, 4.2.1.12).
  static let forServers = Self.file("servers")
  static let forClients = Self.file("clients")

  /// Issued by the authority for other.example.test and *.wild.example.test.
  static let other = Self.file("other")
  /// Issued by an authority of that name that nobody trusts but who names `stranger.pem`.
  static let stranger = Self.file("strange")

  /// The path of the file with this name.
  static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// A new file with these bytes and permission bits.
  static func write(_ text: String, to name: String, mode: Int) throws -> String {
    let path = self.path(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  static func text(of path: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
  }

  /// Runs the openssl command in the folder and gives its standard output.
  @discardableResult
  static func openssl(_ arguments: String..., in directory: URL) -> String { Self.openssl(arguments, in: directory) }

  @discardableResult
  static func openssl(_ arguments: [String], in directory: URL) -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.currentDirectoryURL = directory
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      preconditionFailure("the tests need the openssl command: \(error)")
    }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    precondition(process.terminationStatus == 0, "openssl \(arguments.joined(separator: " "))")
    return String(decoding: data, as: UTF8.self)
  }

  private static func file(_ name: String) -> Files {
    Files(certificate: path("\(name).pem"), key: path("\(name).key"))
  }

  static var directory: URL { folder.url }

  private static let folder: TemporaryDirectory = {
    let folder: TemporaryDirectory
    do { folder = try TemporaryDirectory() } catch { preconditionFailure("no temporary folder: \(error)") }
    let directory = folder.url
    do {
      let names = "subjectAltName=DNS:app.example.test,DNS:*.wild.example.test,IP:127.0.0.1,IP:::1\n"
      try Data(names.utf8).write(to: directory.appendingPathComponent("names.ext"))
      let others = "subjectAltName=DNS:Other.Example.test,DNS:*.wild.example.test,DNS:a.b.wild.example.test\n"
      try Data(others.utf8).write(to: directory.appendingPathComponent("others.ext"))
      for (name, use) in [("servers", "serverAuth"), ("clients", "clientAuth")] {
        let extensions = names + "extendedKeyUsage=\(use)\n"
        try Data(extensions.utf8).write(to: directory.appendingPathComponent("\(name).ext"))
      }
      try Data("basicConstraints=CA:FALSE\n".utf8).write(to: directory.appendingPathComponent("none.ext"))
      try Data("basicConstraints=critical,CA:TRUE\n".utf8).write(to: directory.appendingPathComponent("ca.ext"))
    } catch {
      preconditionFailure("cannot write to the temporary folder: \(error)")
    }
    for authority in ["ca", "stranger"] {
      Self.openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
        "-subj", "/CN=\(authority)", "-keyout", "\(authority).key", "-out", "\(authority).pem", in: directory)
    }
    Self.issue("valid", extensions: "names.ext", days: 30, by: "ca", in: directory)
    Self.issue("expired", extensions: "names.ext", days: 0, by: "ca", in: directory)
    Self.issue("other", extensions: "others.ext", days: 30, by: "ca", in: directory)
    Self.issue("strange", extensions: "names.ext", days: 30, by: "stranger", in: directory)
    Self.issue("servers", extensions: "servers.ext", days: 30, by: "ca", in: directory)
    Self.issue("clients", extensions: "clients.ext", days: 30, by: "ca", in: directory)
    Self.issue("cn", extensions: "none.ext", days: 30, by: "ca", in: directory)
    Self.issue("intermediate", subject: "intermediate", extensions: "ca.ext", days: 30, by: "ca", in: directory)
    Self.issue("edwards", extensions: "names.ext", days: 30, by: "ca", key: ["ed25519"], in: directory)
    Self.issue("chained", extensions: "names.ext", days: 30, by: "intermediate", in: directory)
    do {
      let chain = try ["chained.pem", "intermediate.pem"].map {
        try Data(contentsOf: directory.appendingPathComponent($0))
      }
      try (chain[0] + chain[1]).write(to: directory.appendingPathComponent("chained.pem"))
    } catch {
      preconditionFailure("cannot write the chain: \(error)")
    }
    return folder
  }()

  /// - Parameter key: the arguments of `-newkey`.
  private static func issue(
    _ name: String, subject: String = "app.example.test", extensions: String, days: Int, by issuer: String,
    key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], in directory: URL
  ) {
    Self.openssl(
      ["req", "-new", "-newkey"] + key + [
        "-nodes", "-subj", "/CN=\(subject)", "-keyout", "\(name).key", "-out", "\(name).csr",
      ], in: directory)
    Self.openssl(
      "x509", "-req", "-in", "\(name).csr", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key", "-CAcreateserial",
      "-days", "\(days)", "-extfile", extensions, "-out", "\(name).pem", in: directory)
  }
}
