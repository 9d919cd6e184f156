import Dispatch
import Glibc
import Invariants

/// The one target of this run.
enum Target {
  /// Set once before the first run; libFuzzer has one thread.
  nonisolated(unsafe) static var current: Invariant?

  /// Looks at one input; ends the process where the invariant does not hold, so that libFuzzer keeps the input.
  static func run(_ input: UnsafeBufferPointer<UInt8>) -> Int32 {
    guard let current else { return -1 }
    let bytes = Array(input)
    switch current.check {
    case .immediate(let check):
      do { try check(bytes) } catch { end(error) }
    case .suspending(let check):
      let done = DispatchSemaphore(value: 0)
      Task.detached {
        do { try await check(bytes) } catch { end(error) }
        done.signal()
      }
      done.wait()
    }
    return 0
  }

  private static func end(_ violation: any Error) -> Never {
    print("VIOLATION: \(violation)")
    fflush(nil)
    abort()
  }
}
