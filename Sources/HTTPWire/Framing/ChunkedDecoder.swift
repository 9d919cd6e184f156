package import NIOCore

/// Limits of the framing of one chunked body.
package struct ChunkLimits: Sendable, Equatable {
  /// Bytes of chunk extensions in a whole body, or in each chunk of it. Default: 8,192. Hardly anything but attacks on
  /// parsers uses them.
  package var extensionBytes = 8_192
  /// Whether ``extensionBytes`` is the limit of each chunk. Servers that pad the sizes of chunks pad every one, however
  /// long the body is. Never in requests. Default: no.
  package var countsEachChunk = false
  /// Bytes of the trailer section. Default: 8,192.
  package var trailerBytes = 8_192
  /// Fields of the trailer section. Default: 32.
  package var trailerFields = 32

  /// Whether white space may follow the size of a chunk, as some servers pad it: RFC 9112, 7.1.1 has it parsed before
  /// an extension. Never in requests. Default: no.
  package var allowsSpace = false

  /// The limits of a request body.
  package init() {}

  /// Limits of a response body, whose trailers have the limits of response heads.
  package init(applicationHeads heads: HeadLimits) {
    trailerBytes = heads.headBytes
    trailerFields = heads.fieldCount
    countsEachChunk = true
    allowsSpace = true
  }
}

/// Violations of the chunked coding.
package enum ChunkViolation: String, Error, Sendable {
  /// The size is not hexadecimal, or something else than an extension follows it.
  case size = "malformed chunk size"
  /// The size is beyond what a body can have.
  case sizeTooLarge = "chunk size too large"
  /// The extensions of all chunks together, or those of one, exceed ``ChunkLimits/extensionBytes``.
  case extensionTooLong = "chunk extensions too long"
  /// An extension does not follow the grammar (RFC 9112, 7.1.1).
  case extensionMalformed = "malformed chunk extension"
  /// Something else than CR LF follows the size or the data.
  case lineEnding = "chunk not ended by CR LF"
  /// A trailer field is malformed or must not be one, or the section exceeds its limits.
  case trailer = "malformed trailer section"
}

/// Decodes the chunked coding (RFC 9112, 7.1).
///
///     chunk          = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
///     last-chunk     = 1*("0") [ chunk-ext ] CRLF
///     chunk-ext      = *( ";" token [ "=" ( token / quoted-string ) ] )
///
/// Stricter than the grammar in one place: no white space about the size or within extensions (RFC 9112 allows "bad"
/// white space there, which readers disagree about) unless ``ChunkLimits/allowsSpace`` permits it, and no obs-text in
/// extensions.
package struct ChunkedDecoder: Sendable {
  private enum State: Sendable {
    case size(digits: Int, value: Int)
    case spaceBehindSize(size: Int)
    case chunkExtension(size: Int, ChunkExtension)
    case sizeLineFeed(size: Int)
    case content(left: Int)
    case contentCarriageReturn
    case contentLineFeed
    case trailers
    case ended
  }

  private let limits: ChunkLimits
  private var state: State = .size(digits: 0, value: 0)
  private var extensionBytes = 0
  private var trailers: [UInt8] = []

  /// Begins before the first chunk.
  package init(limits: ChunkLimits = .init()) { self.limits = limits }

  /// See ``BodyDecoder/next(_:)``.
  package mutating func next(_ buffer: inout ByteBuffer) -> BodyDecoder.Step {
    while true {
      if case .content(let left) = state {
        guard buffer.readableBytes > 0 else { return .incomplete }
        let count = min(left, buffer.readableBytes)
        state = count == left ? .contentCarriageReturn : .content(left: left - count)
        return .content(count)
      }
      if case .trailers = state { return readTrailers(&buffer) }
      if case .ended = state { return .end(trailers: []) }
      guard let byte = buffer.readInteger(as: UInt8.self) else { return .incomplete }
      if let violation = consume(byte) { return .violation(violation) }
    }
  }

  /// One byte of framing.
  private mutating func consume(_ byte: UInt8) -> ChunkViolation? {
    switch state {
    case .size(let digits, let value):
      if let digit = Self.hexadecimal(byte) {
        // Sixteen digits with leading zeros are one number; a seventeenth, or a number of 2^59 and more, is an attack.
        guard digits < 16, value < 1 << 55 else { return .sizeTooLarge }
        state = .size(digits: digits + 1, value: value << 4 | digit)
        return nil
      }
      guard digits > 0 else { return .size }
      switch byte {
      case 0x0D: state = .sizeLineFeed(size: value)
      case 0x3B: state = .chunkExtension(size: value, .nameStart)
      case 0x20, 0x09:
        guard limits.allowsSpace else { return .size }
        state = .spaceBehindSize(size: value)
      default: return .size
      }
    case .spaceBehindSize(let size):
      switch byte {
      case 0x0D: state = .sizeLineFeed(size: size)
      case 0x3B: state = .chunkExtension(size: size, .nameStart)
      case 0x20, 0x09:
        extensionBytes += 1
        guard extensionBytes <= limits.extensionBytes else { return .extensionTooLong }
      default: return .size
      }
    case .chunkExtension(let size, let place):
      if byte == 0x0D, place.mayEnd {
        state = .sizeLineFeed(size: size)
        return nil
      }
      guard byte >= 0x20 || byte == 0x09, byte != 0x7F else {
        return byte == 0x0D && !place.isQuoted ? .extensionMalformed : .lineEnding
      }
      let isSpace = byte == 0x20 || byte == 0x09
      let next = limits.allowsSpace && isSpace && !place.isQuoted ? place : place.next(byte)
      guard let next else { return .extensionMalformed }
      state = .chunkExtension(size: size, next)
      extensionBytes += 1
      guard extensionBytes <= limits.extensionBytes else { return .extensionTooLong }
    case .sizeLineFeed(let size):
      guard byte == 0x0A else { return .lineEnding }
      state = size == 0 ? .trailers : .content(left: size)
    case .contentCarriageReturn:
      guard byte == 0x0D else { return .lineEnding }
      state = .contentLineFeed
    case .contentLineFeed:
      guard byte == 0x0A else { return .lineEnding }
      state = .size(digits: 0, value: 0)
      if limits.countsEachChunk { extensionBytes = 0 }
    case .content, .trailers, .ended: break
    }
    return nil
  }

  /// Collects the trailer section up to its empty line. It is small, rare and bounded: here bytes are copied.
  private mutating func readTrailers(_ buffer: inout ByteBuffer) -> BodyDecoder.Step {
    while let byte = buffer.readInteger(as: UInt8.self) {
      trailers.append(byte)
      guard trailers.count <= limits.trailerBytes + 2 else { return .violation(.trailer) }
      guard byte == 0x0A else { continue }
      let count = trailers.count
      guard count >= 2, trailers[count - 2] == 0x0D else { return .violation(.lineEnding) }
      guard count == 2 || (count >= 4 && trailers[count - 3] == 0x0A) else { continue }
      state = .ended
      trailers.removeLast(2)
      guard TrailerSection.isWellFormed(trailers, fieldCount: limits.trailerFields) else { return .violation(.trailer) }
      return .end(trailers: trailers)
    }
    return .incomplete
  }

  @inline(__always)
  private static func hexadecimal(_ byte: UInt8) -> Int? {
    let digit = byte &- 0x30
    if digit < 10 { return Int(digit) }
    let letter = (byte | 0x20) &- 0x61
    return letter < 6 ? Int(letter) + 10 : nil
  }
}

/// Parser state within chunk extensions (RFC 9112, 7.1.1), which are dropped.
private enum ChunkExtension: Sendable {
  case nameStart, name, valueStart, value, quoted, escaped, quotedEnd

  /// Whether the line may end here.
  var mayEnd: Bool { self == .name || self == .value || self == .quotedEnd }

  var isQuoted: Bool { self == .quoted || self == .escaped }

  /// The state after `byte`, which is not a control character; nil if it is not allowed here.
  func next(_ byte: UInt8) -> ChunkExtension? {
    guard byte < 0x80 else { return nil }
    switch self {
    case .escaped: return .quoted
    case .quoted: return byte == 0x22 ? .quotedEnd : byte == 0x5C ? .escaped : .quoted
    case .nameStart: return CharacterClass.token.contains(byte) ? .name : nil
    case .valueStart: return byte == 0x22 ? .quoted : CharacterClass.token.contains(byte) ? .value : nil
    case .name where byte == 0x3D: return .valueStart
    case .name, .value, .quotedEnd:
      if byte == 0x3B { return .nameStart }
      return self != .quotedEnd && CharacterClass.token.contains(byte) ? self : nil
    }
  }
}
