import Foundation

/// The moment at which a test gives up waiting. Never part of what a test asserts: a test that waits for something
/// passes as soon as it is there.
struct Deadline: Sendable {
  let date: Date

  static func seconds(_ seconds: Double) -> Deadline { Deadline(date: Date(timeIntervalSinceNow: seconds)) }

  /// Long enough for a debug build on a busy machine.
  static var standard: Deadline { .seconds(60) }

  var hasPassed: Bool { date.timeIntervalSinceNow <= 0 }

  /// The remaining time in milliseconds, for `poll(2)`.
  var milliseconds: Int32 { Int32(max(0, min(date.timeIntervalSinceNow, 3600)) * 1000) }
}

/// Asks again and again until `probe` answers, every 20 ms.
/// - Throws: `HarnessError.timedOut`; what `probe` throws ends the waiting at once.
func poll<Result>(_ what: String, by deadline: Deadline = .standard, _ probe: () throws -> Result?) throws -> Result {
  while true {
    if let result = try probe() { return result }
    guard !deadline.hasPassed else { throw HarnessError.timedOut(what) }
    usleep(20_000)
  }
}

/// An error of the harness: always caused by the test or the product, and always reported in full.
enum HarnessError: Error, CustomStringConvertible {
  case timedOut(String)
  case system(String, errno: Int32)
  case endOfStream(String)
  /// A response that ended within its body.
  case cutOff(String)
  case malformed(String)
  case missing(String)
  case exited(String)

  var description: String {
    switch self {
    case .timedOut(let what): "waited in vain for \(what)"
    case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
    case .endOfStream(let what): "the connection ended: \(what)"
    case .cutOff(let what): "the response was cut off: \(what)"
    case .malformed(let what): "malformed: \(what)"
    case .missing(let what): "missing: \(what)"
    case .exited(let what): what
    }
  }
}
