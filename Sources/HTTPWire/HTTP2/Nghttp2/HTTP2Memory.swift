internal import CNghttp2

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Allocator of one nghttp2 session. nghttp2 allocates and frees a handful of small blocks for each stream: they are
/// kept in free lists by size, which costs a tenth of `malloc` when a hundred streams are open.
final class HTTP2Memory {
  /// Free lists: the first free block of each size, which links to the next.
  private(set) var spare = InlineArray<65, UnsafeMutableRawPointer?>(repeating: nil)

  /// Sizes are counted in units of 16 bytes; larger blocks are not kept.
  private static let unit = 16
  private static let largest = 64

  deinit { release() }

  /// Frees unused blocks.
  func release() {
    for units in 1...Self.largest {
      while let block = spare[units] {
        spare[units] = block.load(as: UnsafeMutableRawPointer?.self)
        free(block - Self.unit)
      }
    }
  }

  /// - Returns: at least `size` bytes on a boundary of 16, nil where there is no memory.
  private func take(_ size: Int) -> UnsafeMutableRawPointer? {
    // nghttp2 needs no block of this size: refuse it.
    guard size <= Int32.max else { return nil }
    let units = (max(size, 1) - 1) / Self.unit + 1
    if units <= Self.largest, let block = spare[units] {
      spare[units] = block.load(as: UnsafeMutableRawPointer?.self)
      return block
    }
    guard let memory = malloc((units + 1) * Self.unit) else { return nil }
    // The number of units of a block is stored before it.
    memory.storeBytes(of: units, as: Int.self)
    return memory + Self.unit
  }

  private func give(_ block: UnsafeMutableRawPointer) {
    let units = Self.units(of: block)
    guard units <= Self.largest else { return free(block - Self.unit) }
    block.storeBytes(of: spare[units], as: UnsafeMutableRawPointer?.self)
    spare[units] = block
  }

  private func change(_ block: UnsafeMutableRawPointer, to size: Int) -> UnsafeMutableRawPointer? {
    guard let other = take(size) else { return nil }
    other.copyMemory(from: block, byteCount: min(size, Self.units(of: block) * Self.unit))
    give(block)
    return other
  }

  @inline(__always)
  private static func units(of block: UnsafeMutableRawPointer) -> Int { (block - unit).load(as: Int.self) }

  /// The functions for nghttp2. Not to be used once the allocator is freed.
  var functions: nghttp2_mem {
    nghttp2_mem(
      mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
      malloc: { size, user in
        guard let user else { return nil }
        return HTTP2Memory.ask(user) { $0.take(size) }
      },
      free: { block, user in
        guard let block, let user else { return }
        HTTP2Memory.ask(user) { $0.give(block) }
      },
      calloc: { count, size, user in
        let (bytes, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows, let user, let block = HTTP2Memory.ask(user, { $0.take(bytes) }) else { return nil }
        block.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
        return block
      },
      realloc: { block, size, user in
        guard let user else { return nil }
        guard let block else { return HTTP2Memory.ask(user) { $0.take(size) } }
        return HTTP2Memory.ask(user) { $0.change(block, to: size) }
      })
  }

  /// Asks what nghttp2 hands back, which it cannot outlive: it need not be retained for each block.
  @inline(__always)
  private static func ask<Answer>(_ user: UnsafeMutableRawPointer, _ body: (HTTP2Memory) -> Answer) -> Answer {
    Unmanaged<HTTP2Memory>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
  }
}
