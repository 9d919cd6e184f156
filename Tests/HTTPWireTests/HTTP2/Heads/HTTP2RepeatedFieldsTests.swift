import NIOCore
import Testing

@testable import HTTPWire

// Cases: fields that a client names by their place in HPACK's table (RFC 7541, 6.1), request after request, as browsers
// do. Each request is judged by all of its fields, whatever was found of the same fields before.

@Suite("Repeated fields of HTTP/2")
struct HTTP2RepeatedFieldsTests {
  /// A client that adds each new field to its table (RFC 7541, 6.2.1), and names it by its place from then on (6.1).
  private final class Client {
    let rig: HTTP2Rig
    /// Newest first.
    private var table: [(String, String)] = []
    private var stream: UInt32 = 1
    /// Without the entries that do not fit.
    private let tableBytes = 4_096

    init(_ adjust: (inout HTTP2Policy) -> Void = { _ in }) { rig = HTTP2Rig(adjust) }

    func request(_ fields: [(String, String)]) {
      let payload = fields.flatMap { field -> [UInt8] in
        if let place = table.firstIndex(where: { $0 == field }) {
          let index = 62 + place
          return index < 127 ? [0x80 | UInt8(index)] : [0xFF, UInt8(index - 127)]
        }
        table.insert(field, at: 0)
        var size = 0
        table = Array(
          table.prefix { entry in
            size += entry.0.utf8.count + entry.1.utf8.count + 32
            return size <= tableBytes
          })
        return [0x40] + section([field]).dropFirst()
      }
      rig.receive(RawFrame(type: RawFrame.headers, flags: 0x5, stream: stream, payload: payload))
      stream += 2
    }

    /// The head of the last request, and of how many there were.
    var last: (head: String?, count: Int) { (rig.heads.last, rig.heads.count) }
  }

  @Test("The same request again becomes the same head, byte for byte")
  func same() {
    let client = Client()
    let fields =
      ordinaryFields + [("accept", "*/*"), ("cookie", "a=1"), ("x-a", ""), ("cookie", "b=2"), ("priority", "u=1")]
    for _ in 0..<5 { client.request(fields) }
    #expect(client.rig.heads.count == 5)
    #expect(Set(client.rig.heads).count == 1)
    #expect(
      client.rig.heads.first == """
        GET /a?b HTTP/1.1\r\nHost: app.example.com\r\naccept: */*\r\nx-a: \r\npriority: u=1\r\n\
        Cookie: a=1; b=2\r\n\r\n
        """)
  }

  @Test("A repeated field that no request may have refuses each request that has it, and no other")
  func refused() {
    for field in [("connection", "close"), ("te", "gzip"), ("x", "a\u{0}b"), ("X", "a"), (":unknown", "a")] {
      let client = Client()
      for number in 1...3 {
        client.request(ordinaryFields + [field])
        #expect(client.rig.heads.count == number - 1, "\(field)")
        #expect(client.rig.malformed.count == number, "\(field)")
        #expect(client.rig.resetCode() == HTTP2ErrorCode.protocolError.rawValue, "\(field)")
        client.request(ordinaryFields)
        #expect(client.rig.heads.count == number, "\(field)")
      }
    }
  }

  @Test("A repeated field is judged beside the fields of its own request")
  func beside() {
    let client = Client()
    let host = ("host", "app.example.com")
    let bare = ordinaryFields.filter { $0.0 != ":authority" }
    client.request(ordinaryFields + [host])
    client.request(bare + [(":authority", "other.example.com"), host])
    #expect(client.rig.malformed == ["Host is another than :authority"])
    client.request(bare + [host, host])
    #expect(client.rig.malformed.last == "Host is repeated")
    client.request(bare + [host])
    #expect(client.rig.heads.count == 2)
    client.request(bare + [host] + [(":authority", "app.example.com")])
    #expect(client.rig.malformed.last == "a pseudo-header field after a regular field")
    client.request(ordinaryFields + [("content-length", "5")])
    client.request(ordinaryFields + [("content-length", "5")])
    #expect(client.rig.heads.count == 2, "an announced length and no content")
  }

  @Test("Limits count repeated fields as they count others")
  func limits() {
    let client = Client { $0.heads = HeadLimits(headBytes: 2_000, fieldCount: 20, targetBytes: 1_000) }
    let field = ("x-field", "value")
    client.request(ordinaryFields + Array(repeating: field, count: 19))
    #expect(client.rig.heads.count == 1)
    client.request(ordinaryFields + Array(repeating: field, count: 60))
    #expect(client.rig.heads.count == 1)
    #expect(client.rig.refused == [431])
    let long = ("x-long", String(repeating: "a", count: 700))
    client.request(ordinaryFields + [long, long])
    #expect(client.rig.heads.count == 2)
    client.request(ordinaryFields + [long, long, long])
    #expect(client.rig.refused == [431, 431])
  }

  @Test("Requests stay what they are when the table forgets some of its fields")
  func many() {
    let client = Client()
    var random = SystemRandomNumberGenerator()
    let lengths = [0, 1, 40, 300, 900, 1_500]
    let fields = (0..<120).map { number in
      ("x-\(number % 100)", "\(number)" + String(repeating: "v", count: lengths[number % lengths.count]))
    }
    for number in 0..<400 {
      let chosen = (0..<6).map { _ in fields[Int.random(in: fields.indices, using: &random)] }
      client.request(ordinaryFields + chosen)
      let expected =
        "GET /a?b HTTP/1.1\r\nHost: app.example.com\r\n" + chosen.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
      #expect(client.last == (expected, number + 1))
      if number % 50 == 49 { client.rig.session.shrink() }
      if let stream = client.rig.streams.last { client.rig.session.reset(stream.stream, .noError) }
      _ = client.rig.frames()
    }
  }
}
