internal import HTTPWire
internal import NIOCore
internal import WebFormats

/// A response header field of the configuration.
package struct ResponseHeader: Sendable, Equatable {
  /// A token.
  package var name: String
  /// Without control characters.
  package var value: String

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
    /// Of the name.
    let lowercased: [UInt8]
    /// The whole line.
    let line: [UInt8]
  }

  /// - Parameter fields: each name once.
  package init(_ fields: [ResponseHeader] = []) {
    self.fields = fields.map { field in
      Field(
        name: field.name, value: field.value, lowercased: field.name.utf8.map(\.asciiLowercased),
        line: Array("\(field.name): \(field.value)\r\n".utf8))
    }
  }

  /// Whether there are none.
  var isEmpty: Bool { fields.isEmpty }

  /// Adds those that the head of an upstream's response does not have, before the empty line that `buffer` ends with.
  func write(missingIn head: borrowing ResponseHead, _ bytes: RawSpan, to buffer: inout ByteBuffer) {
    guard !isEmpty, buffer.readableBytes >= 2 else { return }
    buffer.moveWriterIndex(to: buffer.writerIndex - 2)
    for field in fields where !Self.has(field, head, bytes) { buffer.writeBytes(field.line) }
    buffer.writeStaticString("\r\n")
  }

  /// The same for an HTTP/2 client.
  func write(missingIn head: borrowing ResponseHead, _ bytes: RawSpan, to result: inout HTTP2Fields) {
    for field in fields where !Self.has(field, head, bytes) { result.append(lines: field.line) }
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
