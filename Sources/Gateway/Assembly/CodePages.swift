#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Releases the memory of code that is rarely run.
///
/// Linking, reading a configuration, opening the store and signing in touch some 15 MiB of code that serving requests
/// does not need, and that count as resident memory. Code is never written to, so its pages can be released; those that
/// are needed again are mapped from the page cache.
enum CodePages {
  /// Releases the pages of all code. Does nothing if the mappings are unknown.
  static func release() {
    guard let maps = fopen("/proc/self/maps", "r") else { return }
    defer { fclose(maps) }
    var line = [CChar](repeating: 0, count: 4_096)
    while fgets(&line, Int32(line.count), maps) != nil {
      // Most lines are not code, and need not be parsed.
      guard strstr(line, " r-xp ") != nil else { continue }
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard let code = code(in: text) else { continue }
      madvise(UnsafeMutableRawPointer(bitPattern: code.lowerBound), code.count, MADV_DONTNEED)
    }
  }

  /// The addresses of a line `START-END r-xp OFFSET DEVICE INODE /PATH` (proc(5)); nil for anything but code of
  /// a file: writable pages must never be released.
  static func code(in line: String) -> Range<UInt>? {
    let words = line.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count >= 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
    let ends = words[0].split(separator: "-").map { UInt($0, radix: 16) }
    guard ends.count == 2, let start = ends[0], let end = ends[1], start < end else { return nil }
    return start..<end
  }
}
