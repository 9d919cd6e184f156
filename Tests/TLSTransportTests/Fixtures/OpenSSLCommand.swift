import Foundation

/// The `openssl` command as the other side of a connection: a TLS of the same library, driven by somebody else.
enum OpenSSLCommand {
  /// Runs `openssl s_client` against a port, sends `input`, and gives all that it prints. It ends when the server ends
  /// the connection: an ``EchoServer`` does so after a "bye".
  static func client(port: Int, _ arguments: [String], input: String = "bye\n") async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            try Self.run(["s_client", "-connect", "127.0.0.1:\(port)"] + arguments, input: input)
          })
      }
    }
  }

  private static func run(_ arguments: [String], input: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.currentDirectoryURL = TestCertificates.directory
    let standardInput = Pipe()
    let output = Pipe()
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // Open until here: the end of its input would make it leave early.
    try standardInput.fileHandleForWriting.close()
    return String(decoding: data, as: UTF8.self)
  }

  /// A running `openssl s_server -rev`: it answers each line with its reverse.
  final class Server {
    private let process = Process()
    let port: Int

    init(_ arguments: [String]) throws {
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
      process.arguments =
        ["s_server", "-accept", "127.0.0.1:0", "-cert", "valid.pem", "-key", "valid.key", "-rev"] + arguments
      process.currentDirectoryURL = TestCertificates.directory
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      process.standardInput = FileHandle.nullDevice
      try process.run()
      port = Self.port(from: output.fileHandleForReading)
    }

    deinit {
      // Also when a test ended early.
      stop()
    }

    /// From its line "ACCEPT 127.0.0.1:PORT"; 0 when it ends without one.
    private static func port(from output: FileHandle) -> Int {
      var line = ""
      while let data = try? output.read(upToCount: 1), !data.isEmpty {
        guard data != Data("\n".utf8) else {
          if line.hasPrefix("ACCEPT "), let port = line.split(separator: ":").last.flatMap({ Int($0) }) { return port }
          line = ""
          continue
        }
        line += String(decoding: data, as: UTF8.self)
      }
      return 0
    }

    func stop() {
      guard process.isRunning else { return }
      // Not SIGTERM: the child inherits from a thread of Dispatch, which blocks it.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }
}
