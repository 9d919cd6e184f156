internal import WebFormats

/// The proxy's reply to CONNECT, as it arrives.
struct ProxyReply {
  private var bytes: [UInt8] = []

  /// Most bytes of the reply's head.
  static let limit = 8_192

  enum Outcome: Equatable {
    /// The head is not complete.
    case incomplete
    case connected
    /// The reason that there is no tunnel.
    case refused(String)
  }

  mutating func append(_ more: some Sequence<UInt8>) -> Outcome {
    bytes += more
    guard let end = endOfHead else {
      return bytes.count > Self.limit ? .refused("the proxy's reply has more than \(Self.limit) bytes") : .incomplete
    }
    guard end <= Self.limit else { return .refused("the proxy's reply has more than \(Self.limit) bytes") }
    let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    guard let status = Self.status(line) else { return .refused("the proxy's reply is not HTTP/1") }
    guard (200..<300).contains(status) else { return .refused("the proxy answered \"\(Self.shown(line))\"") }
    // Whatever came before the origin was spoken to is not the origin's.
    guard end == bytes.count else { return .refused("the proxy sent data before the connection was used") }
    return .connected
  }

  private var endOfHead: Int? {
    let mark: [UInt8] = [13, 10, 13, 10]
    guard bytes.count >= mark.count else { return nil }
    return (0...(bytes.count - mark.count)).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
      .map { $0 + mark.count }
  }

  /// The status of `HTTP/1.x NNN …`.
  private static func status(_ line: ArraySlice<UInt8>) -> Int? {
    let line = Array(line)
    guard line.count >= 12, line.starts(with: "HTTP/1.".utf8), line[7].isASCIIDigit, line[8] == 0x20,
      line.count == 12 || line[12] == 0x20
    else { return nil }
    return DecimalDigits.parse(line[9...11], limit: 999)
  }

  /// The line for a log: foreign bytes are shortened, and control characters replaced.
  private static func shown(_ line: ArraySlice<UInt8>) -> String {
    String(decoding: line.prefix(100).map { (0x20..<0x7F).contains($0) && $0 != 0x22 ? $0 : 0x3F }, as: UTF8.self)
  }
}
