#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The reason for which a read has brought no bytes.
enum EmptyRead: Equatable {
  /// There is nothing until the system reports something.
  case drained
  /// The input has ended.
  case end
  /// - Parameter errno: the system's.
  case failed(CInt)

  /// - Parameters:
  ///   - count: the result of `recv(2)`, which is not positive.
  ///   - code: the error of a negative result.
  init(count: Int, errno code: CInt) {
    guard count < 0 else {
      self = .end
      return
    }
    switch code {
    case EAGAIN, EWOULDBLOCK: self = .drained
    default: self = .failed(code)
    }
  }
}
