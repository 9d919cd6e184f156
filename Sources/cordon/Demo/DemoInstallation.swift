import FoundationEssentials
import Glibc

/// The programs that the demo needs, and where they are.
struct DemoInstallation {
  let gateway: String
  let simulator: String
  let python: String
  /// The example application.
  let app: String

  /// Looks for everything.
  ///
  /// - Parameter app: the application, if another one than the example is wanted.
  init(app: String?) throws {
    let files = FileManager.default
    gateway = try files.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let folder = URL(fileURLWithPath: gateway).deletingLastPathComponent()

    simulator = folder.appendingPathComponent("apple-simulator").path
    guard files.isExecutableFile(atPath: simulator) else {
      throw DemoError.missing(simulator, remedy: "build it: swift build --product apple-simulator")
    }
    let interpreters = ["/usr/bin/python3", "/usr/local/bin/python3"]
    guard let python = interpreters.first(where: files.isExecutableFile(atPath:)) else {
      throw DemoError.missing("python3", remedy: "install it: apt-get install python3")
    }
    self.python = python

    let candidates = app.map { [URL(fileURLWithPath: $0).path] } ?? Self.examples(above: folder)
    guard let found = candidates.first(where: files.isReadableFile(atPath:)) else {
      throw DemoError.missing(
        app ?? "examples/legacy-wsgi/app.py",
        remedy: "start the demo in the repository's folder, or name an application with --app")
    }
    self.app = found
  }

  /// Possible locations of the example: in the current folder, or above the program in a build folder.
  private static func examples(above folder: URL) -> [String] {
    var folders = [URL(fileURLWithPath: FileManager.default.currentDirectoryPath)]
    var parent = folder
    while parent.path != "/" {
      folders.append(parent)
      parent = parent.deletingLastPathComponent()
    }
    return folders.map { $0.appendingPathComponent("examples/legacy-wsgi/app.py").path }
  }
}

/// A folder that only its owner can look into, for keys, store and logs. It becomes the current folder, which the
/// programs that are started inherit.
struct DemoFolder {
  let path: String

  init() throws(DemoError) {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-demo.XXXXXX")
    var template = Array(place.path.utf8CString)
    guard let made = mkdtemp(&template) else { throw DemoError.folder(String(cString: strerror(errno))) }
    path = String(cString: made)
    guard chdir(path) == 0 else { throw DemoError.folder(String(cString: strerror(errno))) }
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
