#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Reads a file that holds a private key, and looks at who else may: at the very file that is read, so nobody can swap
/// it in between.
package enum KeyFile {
  package enum Outcome {
    case contents([UInt8])
    /// The permissions let everybody read it.
    case readableByEverybody
    case tooLong
    case unreadable(reason: String)
  }

  package static func read(_ path: String, maximumBytes: Int) -> Outcome {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return .unreadable(reason: reason(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .unreadable(reason: reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { return .unreadable(reason: "it is not a regular file") }
    guard status.st_mode & S_IROTH == 0 else { return .readableByEverybody }
    var contents: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while contents.count <= maximumBytes {
      let count = chunk.withUnsafeMutableBytes { systemRead(descriptor, $0) }
      if count < 0 { return .unreadable(reason: reason(errno)) }
      if count == 0 { return .contents(contents) }
      contents.append(contentsOf: chunk[..<count])
    }
    return .tooLong
  }

  private static func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
      Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Darwin)
      Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }

  private static func reason(_ code: Int32) -> String {
    String(cString: strerror(code))
  }
}
