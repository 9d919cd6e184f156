import FoundationEssentials

/// A picture of grey with transparency, written as PNG (W3C, "Portable Network Graphics").
///
/// The compression is "stored" (RFC 1951, 3.2.4): no library is needed to make a few test pictures.
struct PNGImage {
  let width: Int
  let height: Int
  /// Grey and alpha of each point, in rows.
  private var points: [UInt8]

  /// A transparent picture. Both sides in pixels, 1 to 4096.
  init(width: Int, height: Int) {
    self.width = min(max(width, 1), 4_096)
    self.height = min(max(height, 1), 4_096)
    points = Array(repeating: 0, count: self.width * self.height * 2)
  }

  /// Sets a point, if it is in the picture.
  mutating func set(x: Int, y: Int, grey: UInt8, alpha: UInt8 = 255) {
    guard (0..<width).contains(x), (0..<height).contains(y) else { return }
    points[(y * width + x) * 2] = grey
    points[(y * width + x) * 2 + 1] = alpha
  }

  /// The file.
  var file: Data {
    var file = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    // Bit depth 8, colour type 4 (grey with alpha), and the only methods that there are.
    file.append(Self.chunk("IHDR", Self.bytes(UInt32(width)) + Self.bytes(UInt32(height)) + [8, 4, 0, 0, 0]))
    file.append(Self.chunk("IDAT", Self.stored(filtered)))
    file.append(Self.chunk("IEND", []))
    return file
  }

  /// Each row after a byte that says "no filter".
  private var filtered: [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity(points.count + height)
    for row in 0..<height {
      rows.append(0)
      rows.append(contentsOf: points[(row * width * 2)..<((row + 1) * width * 2)])
    }
    return rows
  }

  /// A zlib stream (RFC 1950) of stored blocks.
  private static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var start = 0
    repeat {
      let end = min(start + 65_535, bytes.count)
      let length = UInt16(end - start)
      stream.append(end == bytes.count ? 1 : 0)
      for half in [length, ~length] { stream += [UInt8(half & 0xff), UInt8(half >> 8)] }
      stream += bytes[start..<end]
      start = end
    } while start < bytes.count
    return stream + Self.bytes(adler32(bytes))
  }

  private static func chunk(_ type: String, _ content: [UInt8]) -> Data {
    let typed = Array(type.utf8) + content
    return Data(bytes(UInt32(content.count)) + typed + bytes(crc32(typed)))
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func adler32(_ bytes: [UInt8]) -> UInt32 {
    var low: UInt32 = 1
    var high: UInt32 = 0
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var register = ~UInt32(0)
    for byte in bytes {
      register = crcTable[Int((register ^ UInt32(byte)) & 0xff)] ^ (register >> 8)
    }
    return ~register
  }

  private static let crcTable: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
  }
}
