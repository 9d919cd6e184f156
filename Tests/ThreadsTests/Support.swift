import Foundation

/// Threads that no system has room for.
enum NoThread {
  /// A PiB: more than an address space has.
  static let stackSize = 1 << 50
}

/// The calling thread.
enum CurrentThread {
  static var name: String {
    let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return text?.trimmingCharacters(in: .newlines) ?? ""
  }

  /// The thread's folder below /proc: the system gives its number to no other one for a long time.
  static var folder: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self") }
}
