/// Paths of files, made absolute.
enum FilePath {
  /// Bytes of `sun_path` without its final NUL (unix(7)).
  private static let socketLimit = 107

  /// - Parameters:
  ///   - directory: the base of relative paths: the folder of the configuration file, absolute.
  ///   - isSocket: whether it must fit into the address of a Unix socket.
  static func parse(_ text: String, directory: String, isSocket: Bool = false) throws(Diagnostic) -> String {
    guard !text.isEmpty else {
      throw Diagnostic("is an empty path", remedy: "write the path of a file, or remove the key")
    }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Diagnostic("contains control characters", remedy: "write a path without them")
    }
    let path = resolve(text, in: directory)
    if isSocket, path.utf8.count > socketLimit {
      throw Diagnostic(
        "is longer than a socket's path can be (\(socketLimit) bytes)",
        remedy: "choose a shorter path, as in \"unix:/run/cordon/gateway.sock\"")
    }
    guard path.utf8.count < 4_096 else {
      throw Diagnostic("is longer than 4,095 bytes", remedy: "choose a shorter path")
    }
    return path
  }

  /// The absolute path, without empty and `.` segments, so that two keys that name one file are recognized. `..` stays,
  /// because it depends on symbolic links.
  static func resolve(_ path: String, in directory: String) -> String {
    let absolute = path.utf8.first == UInt8(ascii: "/") ? path : "\(directory)/\(path)"
    let segments = absolute.utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    return "/" + segments.map { String(Substring($0)) }.joined(separator: "/")
  }
}
