internal import Dispatch

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The threads that the process can still make: control groups and the limit of its user bound them, and other
/// processes count, too. So they are tried.
package enum ThreadRoom {
  /// Makes threads, up to a number, and ends them.
  /// - Returns: the number that could be made.
  package static func measure(upTo count: Int) -> Int { measure(upTo: count, stackSize: nil) }

  /// - Parameter stackSize: of each thread, in bytes; nil for the usual one.
  static func measure(upTo count: Int, stackSize: Int?) -> Int {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    defer { pthread_attr_destroy(&attributes) }
    let end = DispatchSemaphore(value: 0)
    var threads: [pthread_t] = []
    while threads.count < count {
      var thread = pthread_t()
      let argument = Unmanaged.passRetained(end)
      let code = pthread_create(
        &thread, &attributes,
        { argument in
          if let argument { Unmanaged<DispatchSemaphore>.fromOpaque(argument).takeRetainedValue().wait() }
          return nil
        }, argument.toOpaque())
      guard code == 0 else {
        argument.release()
        break
      }
      threads.append(thread)
    }
    for _ in threads { end.signal() }
    for thread in threads { pthread_join(thread, nil) }
    return threads.count
  }
}
