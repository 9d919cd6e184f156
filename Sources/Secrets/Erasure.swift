internal import Glibc

extension [UInt8] {
  /// Overwrites the bytes with zeros, for a secret that is no longer needed: freed memory keeps its contents, and may
  /// reach a core dump or the swap space.
  ///
  /// Copies are not overwritten, neither those that the array has left behind by growing nor those of other owners: if
  /// one shares its storage, that stays as it is.
  package mutating func erase() {
    withUnsafeMutableBytes { bytes in
      // Unlike memset, this is never optimized away.
      if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
  }
}
