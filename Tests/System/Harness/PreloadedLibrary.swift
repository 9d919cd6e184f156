import Foundation
import TemporaryDirectoryTesting

/// A few lines of C between a process and its C library (`LD_PRELOAD`).
struct PreloadedLibrary: Sendable {
  private let directory: TemporaryDirectory
  var path: String { "\(directory.path)/preloaded.so" }

  init(_ source: String) throws {
    directory = try TemporaryDirectory()
    let file = try directory.write(source, to: "preloaded.c")
    let compiler = ["clang", "gcc", "cc"].lazy.compactMap { Self.find($0) }.first
    guard let compiler else { throw HarnessError.missing("clang, which comes with the Swift toolchain") }
    let made = try ServerProcess.run(compiler, ["-O1", "-shared", "-fPIC", "-o", path, file, "-ldl"])
    guard made.exit == .code(0) else { throw HarnessError.malformed(made.standardError) }
  }

  private static func find(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
