import NIOCore
import NIOEmbedded
import NIOHTTP1

/// The result of llhttp for some bytes, in strict mode as SwiftNIO drives it: the reader that ours are compared with.
struct LLHTTPReading {
  /// A field's name and value.
  struct Field: Equatable, CustomStringConvertible {
    var name: [UInt8]
    var value: [UInt8]

    /// As SwiftNIO reports it: values are text there, and invalid UTF-8 is replaced.
    var asText: Field { Field(name: name, value: Array(String(decoding: value, as: UTF8.self).utf8)) }

    var description: String { "\(shown(name)): \(shown(value))" }
  }

  var request: HTTPRequestHead?
  var response: HTTPResponseHead?
  var fields: [Field] = []
  var content: [UInt8] = []
  var trailers: [Field]?
  /// Whether the end of the message was seen.
  var isEnded = false
  /// Whether bytes were refused.
  var isRefused = false
  /// The number of messages that began.
  var messages = 0

  /// The same bytes with a letter for each byte from 0x80 in `target`, which llhttp refuses there and old clients send.
  static func inASCII(_ bytes: [UInt8], _ target: Range<Int>) -> [UInt8] {
    var bytes = bytes
    for place in target where bytes[place] >= 0x80 { bytes[place] = UInt8(ascii: "x") }
    return bytes
  }

  /// Reads a request.
  static func request(_ bytes: [UInt8]) -> LLHTTPReading {
    var reading = LLHTTPReading()
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      try channel.pipeline.syncOperations.addHandler(
        ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
      try channel.writeInbound(ByteBuffer(bytes: bytes))
    } catch {
      reading.isRefused = true
    }
    while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
      reading.note(part, head: \.request, headers: \.headers)
    }
    return reading
  }

  /// Reads the answer to a GET.
  static func response(_ bytes: [UInt8]) -> LLHTTPReading {
    var reading = LLHTTPReading()
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      try channel.pipeline.syncOperations.addHandler(
        ByteToMessageHandler(
          HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)))
      try channel.writeOutbound(
        HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
      try channel.writeInbound(ByteBuffer(bytes: bytes))
    } catch {
      reading.isRefused = true
    }
    while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
      reading.note(part, head: \.response, headers: \.headers)
    }
    return reading
  }

  /// Notes a part that was read. Only the first message is of interest.
  private mutating func note<Head: Equatable>(
    _ part: HTTPPart<Head, ByteBuffer>, head place: WritableKeyPath<LLHTTPReading, Head?>,
    headers: KeyPath<Head, HTTPHeaders>
  ) {
    switch part {
    case .head(let head):
      messages += 1
      if messages == 1 {
        self[keyPath: place] = head
        fields = Self.fields(head[keyPath: headers])
      }
    case .body(let body): content += body.readableBytesView
    case .end(let trailers):
      self.trailers = trailers.map(Self.fields)
      isEnded = true
    }
  }

  /// SwiftNIO leaves some of the white space after a value that does not belong to it (RFC 9112, 5.1).
  private static func fields(_ headers: HTTPHeaders) -> [Field] {
    headers.map { field in
      var value = Array(field.value.utf8)
      while value.last == 0x20 || value.last == 0x09 { value.removeLast() }
      return Field(name: Array(field.name.utf8), value: value)
    }
  }
}
