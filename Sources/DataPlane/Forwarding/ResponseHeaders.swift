internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// A response header field of the configuration.
package struct ResponseHeader: Sendable, Equatable {
  /// A token.
  package var name: String
  /// Without control characters.
  package var value: String

  /// A field that the configuration has checked already: nothing is checked or escaped here.
  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// The response header fields that the configuration adds (`[headers]`). One that a response has already stays as it
/// is.
package struct ResponseHeaders: Sendable, Equatable {
  let fields: [Field]

  struct Field: Sendable, Equatable {
    let name: String
    let value: String
    /// The name in small letters.
    let lowercased: [UInt8]
    /// The whole line.
    let line: [UInt8]
    /// Whether it may let a cache keep a response (RFC 9111, 5; RFC 9213).
    let isForCaches: Bool
  }

  /// - Parameter fields: each name once.
  package init(_ fields: [ResponseHeader] = []) {
    self.fields = fields.map { field in
      let lowercased = field.name.utf8.map(\.asciiLowercased)
      return Field(
        name: field.name, value: field.value, lowercased: lowercased,
        line: Array("\(field.name): \(field.value)\r\n".utf8),
        isForCaches: Self.isForCaches(lowercased))
    }
  }

  private static func isForCaches(_ lowercased: [UInt8]) -> Bool {
    ["cache-control", "expires", "pragma"].contains { lowercased.elementsEqual($0.utf8) }
      || TargetedCacheControl.isTargeted(lowercased.span.bytes, 0..<lowercased.count)
  }

  /// Whether there are none.
  var isEmpty: Bool { fields.isEmpty }

  /// Adds those that the head of an upstream's response does not have, before the empty line that `buffer` ends with.
  /// - Parameter isPrivate: whether the response has field lines for one client alone: then none is added that could
  ///   make it last in a cache.
  func write(
    missingIn head: borrowing ResponseHead, _ bytes: RawSpan, isPrivate: Bool, to buffer: inout ByteBuffer
  ) {
    guard !isEmpty, buffer.readableBytes >= 2 else { return }
    buffer.moveWriterIndex(to: buffer.writerIndex - 2)
    for field in fields where isMissing(field, head, bytes, isPrivate) { buffer.writeBytes(field.line) }
    buffer.writeStaticString("\r\n")
  }

  /// The same for an HTTP/2 client.
  func write(
    missingIn head: borrowing ResponseHead, _ bytes: RawSpan, isPrivate: Bool, to result: inout HTTP2Fields
  ) {
    for field in fields where isMissing(field, head, bytes, isPrivate) { result.append(lines: field.line) }
  }

  private func isMissing(
    _ field: Field, _ head: borrowing ResponseHead, _ bytes: RawSpan, _ isPrivate: Bool
  ) -> Bool {
    !(isPrivate && field.isForCaches) && !Self.has(field, head, bytes)
  }

  private static func has(_ field: Field, _ head: borrowing ResponseHead, _ bytes: RawSpan) -> Bool {
    for line in head.fields.lines where line.name.count == field.lowercased.count {
      let isSame = field.lowercased.indices.allSatisfy {
        bytes.byte(at: line.name.lowerBound + $0).asciiLowercased == field.lowercased[$0]
      }
      if isSame { return true }
    }
    return false
  }
}
