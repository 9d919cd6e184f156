internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Releases the memory of code and constants that are rarely needed.
///
/// Linking, reading a configuration, opening the store and signing in touch some 15 MiB of the program and its
/// libraries that serving requests does not need, and that count as resident memory. What is never written to can be
/// released: it is mapped from the page cache when it is needed again.
enum ProgramPages {
  /// Releases the pages of all segments that are never written to.
  static func release() {
    let releaseObject: @convention(c) (UnsafeMutablePointer<dl_phdr_info>?, Int, UnsafeMutableRawPointer?) -> CInt = {
      object, _, _ in
      if let object { ProgramPages.release(object.pointee) }
      return 0
    }
    _ = dl_iterate_phdr(releaseObject, nil)
  }

  private static func release(_ object: dl_phdr_info) {
    // The program has no name, a library has a path. What the kernel lends, such as linux-vdso.so.1, is not a file.
    guard let name = object.dlpi_name, name.pointee == 0 || name.pointee == 0x2F else { return }
    for segment in UnsafeBufferPointer(start: object.dlpi_phdr, count: Int(object.dlpi_phnum)) {
      let start = UInt(object.dlpi_addr) &+ UInt(segment.p_vaddr)
      let end = start &+ UInt(segment.p_memsz)
      guard start <= end, isNeverWritten(type: segment.p_type, flags: segment.p_flags),
        let pages = pages(within: start..<end)
      else { continue }
      madvise(UnsafeMutableRawPointer(bitPattern: pages.lowerBound), pages.count, MADV_DONTNEED)
    }
  }

  /// Whether a segment with these entries of its header (elf(5)) is loaded and stays as it is in its file. Pages that
  /// were written are in no file, and must never be released.
  static func isNeverWritten(type: UInt32, flags: UInt32) -> Bool {
    type == UInt32(PT_LOAD) && flags & UInt32(PF_W) == 0
  }

  /// The whole pages within a range of addresses; nil if there are none.
  static func pages(within bytes: Range<UInt>, pageSize: UInt = UInt(sysconf(Int32(_SC_PAGESIZE)))) -> Range<UInt>? {
    let start = (bytes.lowerBound &+ pageSize &- 1) / pageSize * pageSize
    let end = bytes.upperBound / pageSize * pageSize
    return start < end ? start..<end : nil
  }
}
