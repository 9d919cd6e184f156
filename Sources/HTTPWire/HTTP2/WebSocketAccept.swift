/// `Sec-WebSocket-Accept` (RFC 6455 4.2.2): how an application shows that it has understood a WebSocket's key. Where the
/// key is ours, because HTTP/2 has none (RFC 8441 5), nobody but us can look.
package enum WebSocketAccept {
  /// The answer to a key: the SHA-1 of the key and a constant, in base64.
  package static func answer(to key: some Collection<UInt8>) -> [UInt8] {
    let digest = sha1(Array(key) + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
    var text: [UInt8] = []
    for start in stride(from: 0, to: digest.count, by: 3) {
      let group = digest[start...].prefix(3)
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0...group.count { text.append(Base64Digit.of(bits >> (18 - 6 * place) & 63)) }
    }
    return text + Array(repeating: 0x3D, count: (3 - digest.count % 3) % 3)
  }

  /// RFC 3174. It protects nothing here: the protocol wants it to tell one that understood from one that echoes.
  private static func sha1(_ message: [UInt8]) -> [UInt8] {
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    let bitCount = UInt64(message.count) * 8
    for byte in 0..<8 { padded.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(56 - 8 * byte))) }
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    for block in stride(from: 0, to: padded.count, by: 64) { digest(padded[block..<block + 64], into: &state) }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
  }

  private static func digest(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
      block[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    for place in 16..<80 {
      words.append(
        rotated(words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16], by: 1))
    }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for (round, word) in words.enumerated() {
      let (mixed, constant): (UInt32, UInt32) =
        switch round {
        case 0..<20: ((b & c) | (~b & d), 0x5A82_7999)
        case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case 40..<60: ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      (a, b, c, d, e) = (rotated(a, by: 5) &+ mixed &+ e &+ word &+ constant, a, rotated(b, by: 30), c, d)
    }
    for (place, word) in [a, b, c, d, e].enumerated() { state[place] &+= word }
  }

  private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}

/// The digits of base64 (RFC 4648 4).
enum Base64Digit {
  /// The digit for 0 to 63.
  static func of(_ value: Int) -> UInt8 {
    switch value {
    case 0..<26: UInt8(0x41 + value)
    case 26..<52: UInt8(0x61 + value - 26)
    case 52..<62: UInt8(0x30 + value - 52)
    case 62: 0x2B
    default: 0x2F
    }
  }
}
