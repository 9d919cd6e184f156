import ConfigurationFile
import WebFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The reason why a file could not be created, with the remedy.
struct ConfigurationFolderError: Error {
  let message: String
}

/// The folder of a new configuration, and the group that may read the files placed in it: the folder's where it has one
/// of its own (/etc/cordon is the gateway's group's), otherwise none.
final class ConfigurationFolder {
  /// The absolute path of the folder.
  let path: String
  /// Messages about completed steps, in order.
  private(set) var notes: [String] = []
  private let group: gid_t?

  /// - Parameter file: the configuration, as it was named. Its folder is made if it is not there.
  init(of file: String) throws(ConfigurationFolderError) {
    let parent = Self.split(file).folder
    if mkdir(parent, 0o750) != 0, errno != EEXIST {
      guard errno == ENOENT else { throw Self.problem(parent) }
      throw ConfigurationFolderError(
        message: "\(parent): the folder above is missing; run mkdir -p \(ShellWord.quoting(parent))")
    }
    guard let real = realpath(parent, nil) else { throw Self.problem(parent) }
    defer { free(real) }
    path = String(cString: real)
    group = FolderGroup.guest(of: path)
  }

  /// Whether this is the folder of the machine's own gateway.
  var isSystemWide: Bool { path == "/etc/cordon" }

  /// Resolves a path against the working directory.
  func absolute(_ file: String) -> String {
    guard !file.hasPrefix("/"), let real = realpath(file, nil) else { return file }
    defer { free(real) }
    return String(cString: real)
  }

  /// Copies the key from Apple here, unless it is here already; answers its name.
  func placeKey(from source: String) throws(ConfigurationFolderError) -> String {
    let (folder, name) = Self.split(source)
    let target = "\(path)/\(name)"
    let real = realpath(folder, nil)
    defer { free(real) }
    if let real, String(cString: real) == path {
      try restrict(target)
      notes.append("The key is \(target).")
      return name
    }
    let bytes = try Self.contents(of: source)
    if access(target, F_OK) == 0 {
      guard try Self.contents(of: target) == bytes else {
        throw ConfigurationFolderError(
          message: "\(target): there is another key already; remove it, or name it with --key-file")
      }
    } else {
      try create(target, bytes)
    }
    try restrict(target)
    notes.append("The key was copied to \(target). Keep the original in a safe place.")
    return name
  }

  /// Writes a key that was made for the simulator.
  func placeMadeKey(named name: String, _ key: [UInt8]) throws(ConfigurationFolderError) {
    try create("\(path)/\(name)", key)
  }

  /// Writes the session secret, unless there is one: with another one everybody would have to sign in again.
  func placeSecret(named name: String, _ secret: [UInt8]) throws(ConfigurationFolderError) {
    let target = "\(path)/\(name)"
    if access(target, F_OK) == 0 {
      notes.append("The session secret \(target) was there already and is kept.")
    } else {
      try create(target, secret)
      notes.append("A session secret was made: \(target).")
    }
    try restrict(target)
  }

  /// Writes the configuration. One that is there is kept under another name, and stays in its place until the new one
  /// is complete.
  func writeConfiguration(named name: String, _ text: String) throws(ConfigurationFolderError) {
    let target = "\(path)/\(name)"
    let new = Self.unused("\(target).new")
    try create(new, Array(text.utf8))
    do throws(ConfigurationFolderError) {
      try restrict(new)
      try put(new, inPlaceOf: target)
    } catch {
      unlink(new)
      throw error
    }
    notes.append("The configuration is \(target).")
  }

  private func put(_ new: String, inPlaceOf target: String) throws(ConfigurationFolderError) {
    let kept = access(target, F_OK) == 0 ? Self.unused("\(target).old") : nil
    if let kept, rename(target, kept) != 0 { throw Self.problem(target) }
    guard rename(new, target) == 0 else {
      let problem = Self.problem(target)
      if let kept { rename(kept, target) }
      throw problem
    }
    if let kept { notes.append("The old configuration is \(kept).") }
  }

  /// The name, or the first with a number that no file has.
  private static func unused(_ name: String) -> String {
    var candidate = name
    var number = 2
    while access(candidate, F_OK) == 0 {
      candidate = "\(name).\(number)"
      number += 1
    }
    return candidate
  }

  /// The folder and the name of a file.
  static func split(_ file: String) -> (folder: String, name: String) {
    let bytes = Array(file.utf8)
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return (".", file) }
    let folder = slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    return (folder, String(decoding: bytes[(slash + 1)...], as: UTF8.self))
  }

  // MARK: Implementation

  private func create(_ file: String, _ bytes: [UInt8]) throws(ConfigurationFolderError) {
    do throws(NewFileError) { try NewFile.create(file, bytes) } catch {
      throw ConfigurationFolderError(message: error.message)
    }
  }

  /// For the owner, and for the group that the folder is for.
  private func restrict(_ file: String) throws(ConfigurationFolderError) {
    if let group, chown(file, uid_t.max, group) != 0 { throw Self.problem(file) }
    guard chmod(file, group == nil ? 0o600 : 0o640) == 0 else { throw Self.problem(file) }
  }

  private static func contents(of file: String) throws(ConfigurationFolderError) -> [UInt8] {
    switch FileAccess.system.read(file, 64 << 10) {
    case .contents(let bytes, _): return bytes
    case .missing: throw ConfigurationFolderError(message: "\(file): there is no such file; \(keyRemedy)")
    case .notRegular, .tooLong: throw ConfigurationFolderError(message: "\(file): this is not a key file; \(keyRemedy)")
    case .unreadable(let reason), .failed(let reason): throw ConfigurationFolderError(message: "\(file): \(reason)")
    }
  }

  private static let keyRemedy = "name the AuthKey_….p8 file that Apple gave out (--key-file)"

  private static func problem(_ file: String) -> ConfigurationFolderError {
    ConfigurationFolderError(message: "\(file): \(writingProblem(errno))")
  }
}
