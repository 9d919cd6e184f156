/// A thread that could not be made: a limit of threads is reached, or there is no memory for its stack.
package struct ThreadError: Error, Sendable, Equatable {
  /// `errno`. At a limit, of the user (`RLIMIT_NPROC`) or of a control group (pids), it is `EAGAIN`.
  package let errnoCode: CInt
}
