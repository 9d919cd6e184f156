#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The problem of a file or folder that cannot be created or written, with the remedy where it is known.
/// - Parameter code: `errno`.
func writingProblem(_ code: Int32) -> String {
  let remedy: String? =
    switch code {
    case EACCES, EPERM: "run this as a user who may write there, or choose another place"
    case ENOSPC, EDQUOT: "make room there, or choose another place"
    case EROFS: "choose a place that is not read-only, or mount it for writing"
    case ENOTDIR: "a part of the path is a file: choose another place"
    default: nil
    }
  return String(cString: strerror(code)) + (remedy.map { "; \($0)" } ?? "")
}
