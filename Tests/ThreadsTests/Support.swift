import Foundation

/// Threads that no system has room for.
enum NoThread {
  /// A PiB: more than an address space has.
  static let stackSize = 1 << 50
}

/// The name of a thread.
enum ThreadName {
  /// The calling thread's.
  static var current: String {
    let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return text?.trimmingCharacters(in: .newlines) ?? ""
  }
}
