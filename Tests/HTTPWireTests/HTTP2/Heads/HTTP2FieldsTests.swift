import CNghttp2
import Testing

@testable import HTTPWire

@Suite("Fields that are to be sent over HTTP/2")
struct HTTP2FieldsTests {
  private func sent(_ fields: inout HTTP2Fields) -> [[String]] {
    fields.withNameValues { list, count in
      UnsafeBufferPointer(start: list, count: count).map { field in
        [
          String(decoding: UnsafeBufferPointer(start: field.name, count: field.namelen), as: UTF8.self),
          String(decoding: UnsafeBufferPointer(start: field.value, count: field.valuelen), as: UTF8.self),
        ]
      }
    }
  }

  @Test("Names of every length are written in small letters, values as they are")
  func names() {
    var fields = HTTP2Fields()
    fields.begin(status: 204)
    var expected = [[":status", "204"]]
    for count in 1...40 {
      let name = String(String(repeating: "X-Ab9_Z", count: 6).prefix(count))
      let value = String(repeating: "V", count: count % 7)
      let line = Array("\(name): \(value)\r\n".utf8)
      var table = FieldTable()
      var parser = FieldLineParser(offset: 0, removesSpaceBeforeColon: false)
      #expect(parser.readAll((line + [0x0D, 0x0A]).span.bytes, into: &table, limits: ordinaryLimits) == .complete)
      fields.append(table.lines[0], line.span.bytes)
      expected.append([name.lowercased(), value])
    }
    fields.append("x-own", "A")
    fields.append(name: "X-Control", value: "B")
    expected += [["x-own", "A"], ["x-control", "B"]]
    #expect(sent(&fields) == expected)
    #expect(fields.count == expected.count)
    fields.begin(status: 503)
    #expect(sent(&fields) == [[":status", "503"]])
  }
}
