import HTTPWire

extension Invariant {
  /// A chunked body means the same however its bytes arrive, and what is taken holds the same content and trailers for
  /// llhttp.
  static let chunks = Invariant("chunks") { bytes in
    let body = try DecodedBody(chunked: [bytes[...]])
    try requireEqual(body, bytes, limits: ChunkLimits())
    var tight = ChunkLimits()
    (tight.extensionBytes, tight.trailerBytes, tight.trailerFields) = (12, 40, 2)
    try requireEqual(try DecodedBody(chunked: [bytes[...]], limits: tight), bytes, limits: tight)

    guard let section = body.trailers else { return }
    let message = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    let theirs = LLHTTPReading.request(message + bytes.dropLast(body.rest.count))
    try require(!theirs.isRefused && theirs.isEnded, "taken by us only")
    try require(theirs.content == body.content, "content: llhttp reads \(shown(theirs.content))")
    let ours = trailerFields(section)
    try require(
      (theirs.trailers ?? []) == ours.map(\.asText), "trailers: we read \(ours), llhttp \(theirs.trailers ?? [])")
  }

  /// The bytes one by one, and in pieces whose lengths follow from the bytes themselves.
  private static func requireEqual(_ body: DecodedBody, _ bytes: [UInt8], limits: ChunkLimits) throws {
    let single = try DecodedBody(chunked: bytes.indices.map { bytes[$0...$0] }, limits: limits)
    try require(single == body, "byte by byte it is \(single), at once \(body)")
    var pieces: [ArraySlice<UInt8>] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + 1 + Int(bytes[start] &* 31 & 15))
      pieces.append(bytes[start..<end])
      start = end
    }
    let several = try DecodedBody(chunked: pieces, limits: limits)
    try require(several == body, "in \(pieces.count) pieces it is \(several), at once \(body)")
  }
}

/// The fields of a trailer section.
func trailerFields(_ section: [UInt8]) -> [LLHTTPReading.Field] {
  var fields: [LLHTTPReading.Field] = []
  TrailerSection.forEachLine(section) { line, bytes in
    fields.append(.init(name: bytes.array(line.name), value: bytes.array(line.value)))
  }
  return fields
}
