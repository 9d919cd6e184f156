/// Detects whether a server speaks TLS: sends the first message of a handshake, which a TLS server answers with a
/// handshake record or an alert (RFC 8446, 5.1 and 6).
enum TLSProbe {
  /// A ClientHello of TLS 1.2 (RFC 5246, 7.4.1.2) that names no server. Servers of TLS 1.3 alone answer with an alert.
  static let question: [UInt8] = {
    let suites: [UInt8] = [0xC0, 0x2B, 0xC0, 0x2F, 0xC0, 0x2C, 0xC0, 0x30, 0xCC, 0xA9, 0xCC, 0xA8, 0, 0x9C, 0, 0x2F]
    var extensions = helloExtension(10, vector([0, 0x1D, 0, 0x17, 0, 0x18]))  // supported_groups
    extensions += helloExtension(11, [1, 0])  // ec_point_formats
    extensions += helloExtension(13, vector([4, 3, 8, 4, 4, 1, 5, 3, 8, 5, 5, 1, 8, 6, 6, 1]))  // signature_algorithms
    var hello: [UInt8] = [3, 3]
    // No secret is agreed upon, so that the random bytes may be any.
    hello += [UInt8](0x40..<0x60)
    hello += [0]
    hello += vector(suites)
    hello += [1, 0]
    hello += vector(extensions)
    return [22, 3, 1] + vector([1, 0] + vector(hello))
  }()

  /// Whether bytes are the beginning of an answer: a handshake record or an alert. Nil if there are too few bytes.
  static func isAnswer(_ bytes: some Collection<UInt8>) -> Bool? {
    let head = Array(bytes.prefix(3))
    if let type = head.first, type != 21, type != 22 { return false }
    if head.count > 1, head[1] != 3 { return false }
    return head.count < 3 ? nil : head[2] <= 4
  }

  /// The question, and what tells its answer.
  static let probe = ServerProbe(question: question) { isAnswer($0) }

  private static func helloExtension(_ type: UInt8, _ content: [UInt8]) -> [UInt8] { [0, type] + vector(content) }

  /// Bytes after their number, which has two bytes.
  private static func vector(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
  }
}
