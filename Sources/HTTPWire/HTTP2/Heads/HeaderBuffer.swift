internal import WebFormats

/// Growable byte buffer whose memory is kept from one head to the next. Appending is a comparison and a copy, without
/// the uniqueness check of a shared buffer.
struct HeaderBuffer: ~Copyable {
  private var start: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0

  init() {}

  deinit { start?.deallocate() }

  /// The appended bytes. Valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// Removes the bytes and keeps the memory.
  mutating func removeAll() { count = 0 }

  @inline(__always)
  mutating func append(_ source: UnsafeRawBufferPointer) {
    guard let from = source.baseAddress else { return }
    room(for: source.count).copyMemory(from: from, byteCount: source.count)
    count += source.count
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ byte: UInt8) {
    room(for: 1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  /// Appends the name of a field in small letters.
  @inline(__always)
  mutating func append(lowercasing name: UnsafeRawBufferPointer) {
    let place = room(for: name.count)
    var offset = 0
    while offset &+ 8 <= name.count {
      place.storeBytes(
        of: name.loadUnaligned(fromByteOffset: offset, as: UInt64.self).lowercased, toByteOffset: offset,
        as: UInt64.self)
      offset &+= 8
    }
    if name.count >= 8, offset < name.count {
      // The last eight: some are written twice.
      offset = name.count &- 8
      place.storeBytes(
        of: name.loadUnaligned(fromByteOffset: offset, as: UInt64.self).lowercased, toByteOffset: offset,
        as: UInt64.self)
    } else {
      while offset < name.count {
        place.storeBytes(of: name[offset].asciiLowercased, toByteOffset: offset, as: UInt8.self)
        offset &+= 1
      }
    }
    count += name.count
  }

  /// Appends a field line, without more than one look at the room.
  @inline(__always)
  mutating func append(line name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    let size = name.count + value.count + 4
    var place = room(for: size)
    if let from = name.baseAddress { place.copyMemory(from: from, byteCount: name.count) }
    place += name.count
    // ": ", the first byte in the lowest place.
    place.storeBytes(of: 0x203A, as: UInt16.self)
    place += 2
    if let from = value.baseAddress { place.copyMemory(from: from, byteCount: value.count) }
    // CR LF.
    (place + value.count).storeBytes(of: 0x0A0D, as: UInt16.self)
    count += size
  }

  /// The address of the next `size` bytes, for which there is room.
  @inline(__always)
  private mutating func room(for size: Int) -> UnsafeMutableRawPointer {
    if let start, count + size <= capacity { return start + count }
    return grown(by: size)
  }

  @inline(never)
  private mutating func grown(by size: Int) -> UnsafeMutableRawPointer {
    capacity = max(1_024, 2 * capacity, count + size)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    if let start { larger.copyMemory(from: start, byteCount: count) }
    start?.deallocate()
    start = larger
    return larger + count
  }
}
