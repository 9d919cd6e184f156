import Foundation
import TemporaryDirectoryTesting

/// The dependencies that the package's files state: the imports of every source file, and the manifest's targets.
struct SourceTree {
  /// The folder of `Package.swift`.
  let root: URL
  /// Every module under `Sources`, with the modules that its files import.
  let modules: [String: Module]
  /// Every target of the manifest.
  let targets: [String: Target]

  struct Module {
    /// Path of each file below the root, and what it imports.
    var imports: [(file: String, module: String)] = []
  }

  /// A target as the manifest declares it.
  struct Target {
    var kind: String
    /// Names of targets of this package that it depends on.
    var targets: Set<String>
    /// Names of other packages' products that it depends on.
    var products: Set<String>
  }

  static let current = Result { try SourceTree() }

  private init() throws {
    root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    modules = try Self.scan(root.appending(path: "Sources"))
    targets = try Self.manifest(root)
  }

  /// Every import of `module`'s files, standard library and all.
  func imports(of module: String) -> Set<String> { Set(modules[module]?.imports.map(\.module) ?? []) }

  /// The files, outside the modules `owners`, that import one of `imported`.
  func files(importing imported: Set<String>, outside owners: Set<String>) -> [String] {
    modules.filter { !owners.contains($0.key) }.values
      .flatMap { $0.imports.filter { imported.contains($0.module) }.map { "\($0.file) imports \($0.module)" } }.sorted()
  }

  /// The files of `module` that import one of `imported`.
  func files(of module: String, importing imported: (String) -> Bool) -> [String] {
    (modules[module]?.imports ?? []).filter { imported($0.module) }.map { "\($0.file) imports \($0.module)" }.sorted()
  }

  /// Everything that `target` depends on within the package, however indirectly.
  func reach(of target: String) -> Set<String> {
    var reached: Set<String> = []
    var open = Array(targets[target]?.targets ?? [])
    while let next = open.popLast() {
      if reached.insert(next).inserted { open += targets[next]?.targets ?? [] }
    }
    return reached
  }

  // MARK: Implementation

  private static func scan(_ sources: URL) throws -> [String: Module] {
    var modules: [String: Module] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
      var module = Module()
      let files = FileManager.default.enumerator(atPath: sources.appending(path: name).path)
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift") else { continue }
        let text = try String(contentsOf: sources.appending(path: "\(name)/\(file)"), encoding: .utf8)
        module.imports += imports(in: text).map { ("Sources/\(name)/\(file)", $0) }
      }
      modules[name] = module
    }
    return modules
  }

  /// The modules that a file imports: `public import struct Foundation.Date` names Foundation.
  static func imports(in text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      while let first = words.first, first.hasPrefix("@") || accessLevels.contains(first) { words.removeFirst() }
      guard words.first == "import", words.count > 1 else { return nil }
      words.removeFirst()
      if kinds.contains(words[0]), words.count > 1 { words.removeFirst() }
      return String(words[0].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
  }

  private static let accessLevels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
  ]

  /// Asks SwiftPM itself what the manifest says, in a scratch folder of its own (the build folder is locked while tests
  /// are started by `swift test`).
  private static func manifest(_ root: URL) throws -> [String: Target] {
    let scratch = try TemporaryDirectory()
    let text = try Tool.run(
      "swift", ["package", "--package-path", root.path, "--scratch-path", scratch.path, "dump-package"])
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    var targets: [String: Target] = [:]
    for target in object?["targets"] as? [[String: Any]] ?? [] {
      guard let name = target["name"] as? String, let kind = target["type"] as? String else { continue }
      let dependencies = target["dependencies"] as? [[String: [Any]]] ?? []
      let named = dependencies.flatMap { $0.filter { $0.key != "product" }.values.compactMap { $0.first as? String } }
      let products = dependencies.compactMap { $0["product"]?.first as? String }
      targets[name] = Target(kind: kind, targets: Set(named), products: Set(products))
    }
    return targets
  }
}

/// A program of the machine.
enum Tool {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Returns the path of a program, nil if it is not installed.
  static func find(_ name: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Runs a program, whose temporary files are removed, and answers what it printed.
  /// - Throws: `Failure`, with what it complained of, when it did not exit 0.
  static func run(_ name: String, _ arguments: [String], in directory: URL? = nil) throws -> String {
    guard let path = find(name) else { throw Failure(description: "\(name) is not installed") }
    let folder = try TemporaryDirectory()
    // Files, not pipes: nobody has to read while the program runs.
    let out = folder.url.appending(path: "out")
    let complaints = folder.url.appending(path: "err")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.currentDirectoryURL = directory
    // SwiftPM leaves the lock of its scratch folder behind.
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder.path]) { $1 }
    process.standardInput = FileHandle.nullDevice
    for (file, isOutput) in [(out, true), (complaints, false)] {
      try Data().write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      if isOutput { process.standardOutput = handle } else { process.standardError = handle }
    }
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let text = try String(contentsOf: complaints, encoding: .utf8)
      throw Failure(description: "\(name) \(arguments.joined(separator: " ")): \(text)")
    }
    return try String(contentsOf: out, encoding: .utf8)
  }
}
