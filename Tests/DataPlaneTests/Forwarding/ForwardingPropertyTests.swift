import HTTPWire
import NIOCore
import NIOEmbedded
import NIOHTTP1
import RandomTesting
import Testing

@testable import DataPlane

// Whatever is asked, what goes upstream is exactly one request, for our own reader and for llhttp, with the fields that
// only the gateway may set once each and as it set them.

@Suite("Properties of the header that goes upstream")
struct ForwardingPropertyTests {
  private let rules = ForwardingRules(
    reservedNames: ["X-Forwarded-User"], sessionCookieName: "__Host-cordon", scheme: "https")

  @Test("A forwarded header parses as exactly one request, by our reader and by llhttp, with one identity")
  func property() throws {
    var random = SeededNumbers(seed: 11)
    let identity = SerializedIdentityHeaders([("X-Forwarded-User", Array("001.true".utf8))])
    var taken = 0
    for round in 0..<6_000 {
      let text = Self.request(using: &random)
      let written = forwarded(text, rules: rules, identity: identity, trusted: round % 5 == 0, upgrades: false)
      guard written.hasSuffix("\r\n\r\n") else { continue }
      taken += 1
      let bytes = Array(written.utf8)
      var head = RequestHead()
      let outcome = RequestHeadParser(limits: HeadLimits(headBytes: 65_535, fieldCount: 200, targetBytes: 9_000))
        .parse(bytes.span.bytes, into: &head)
      // HTTP/1.0 may come without a Host: what goes upstream then names an empty one, which our reader refuses.
      let nameless = written.contains("\r\nHost: \r\n")
      #expect(nameless || (outcome == .complete && head.byteCount == bytes.count), "\(text.debugDescription)")

      let reading = try Self.llhttp(written)
      let headers = try #require(reading, "\(text.debugDescription) became \(written.debugDescription)").headers
      #expect(headers["host"].count == 1 && headers["x-forwarded-user"] == ["001.true"], "\(text.debugDescription)")
      #expect(headers["x-forwarded-for"].count == 1 && headers["x-forwarded-proto"] == ["https"])
      #expect(headers["x-request-id"] == [requestIDText] && headers["x-forwarded-host"].count == 1)
      #expect(headers["content-length"].count + headers["transfer-encoding"].count <= 1)
      #expect(headers["connection"].isEmpty && headers["upgrade"].isEmpty)
      let spoofs = headers.filter { $0.value == "evil" && !$0.name.hasPrefix("Y-") }
      #expect(spoofs.isEmpty, "\(spoofs) of \(text.debugDescription)")
      #expect(!headers["cookie"].contains { $0.lowercased().contains("__host-cordon=") }, "\(text.debugDescription)")
    }
    #expect(taken > 2_000)
  }

  /// The head as llhttp reads it, nil where it does not; the bytes after it must be none.
  private static func llhttp(_ text: String) throws -> HTTPRequestHead? {
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
    guard (try? channel.writeInbound(ByteBuffer(string: text))) != nil else { return nil }
    guard case .head(let head)? = try channel.readInbound(as: HTTPServerRequestPart.self) else { return nil }
    while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
      if case .head = part { return nil }
    }
    return head
  }

  private static func request(using random: inout SeededNumbers) -> String {
    func pick(_ choices: [String]) -> String { choices[Int.random(in: 0..<choices.count, using: &random)] }
    var text = pick(["", "", "", "\r\n"]) + pick(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"])
    text += " " + pick(["/", "/a?b", "http://real.example/x", "http://real.example", "http://real.example?q", "*"])
    text += " " + pick(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0"]) + "\r\n"
    var lines = [pick(["Host: a", "Host: a", "host:b:8080", "HOST: [::1]"])]
    if text.contains("HTTP/1.0"), Bool.random(using: &random) { lines = [] }
    let separators = ["-", "_", ".", "-", "~"]
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      let (one, other) = (pick(separators), pick(separators))
      lines.insert(
        pick([
          "X\(one)Forwarded\(other)User: evil", "x\(one)forwarded\(other)proto: evil", "X\(one)Request\(other)Id: evil",
          "X\(one)Original\(other)URL: evil", "Y-Fine: evil", "Connection: X-Forwarded-User, close",
          "Connection: keep-alive, Y-Fine", "Connection: Upgrade", "Upgrade: websocket", "TE: trailers",
          "Keep-Alive: 1",
          "Cookie: __Host-cordon=v", "Cookie: a=1; __Host-cordon=v; b=2", "Cookie: __Host-cordon-attempt-1=v; a=1",
          "Cookie: ;;  ;__HOST-cordon=x;;", "Content-Length: 7", "Content-Length: 0", "Transfer-Encoding: chunked",
          "X-Forwarded-For: 203.0.113.9", "Accept: */*", "Connection: Host, Content-Length", "Expect: 100-continue",
        ]), at: Int.random(in: 0...lines.count, using: &random))
    }
    return text + lines.map { $0 + pick(["", "", " ", "\t"]) + "\r\n" }.joined() + "\r\n"
  }
}
