import NIOCore
import NIOEmbedded
import NIOHTTP1
import RandomTesting
import Testing

@testable import HTTPWire

// Whatever our readers take, llhttp must take with the same meaning: where it would not, we would be the laxer of two
// parsers, and something behind us could see another request than we do. Being stricter is what ours are for.

@Suite("Against llhttp")
struct OracleTests {
  /// The result of llhttp for some bytes.
  struct Reading {
    var head: HTTPRequestHead?
    var content: [UInt8] = []
    var trailers: HTTPHeaders?
    var ended = false
    var failed = false
  }

  private func llhttp(_ bytes: [UInt8]) -> Reading {
    var reading = Reading()
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    do {
      try channel.pipeline.syncOperations.addHandler(
        ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
      try channel.writeInbound(ByteBuffer(bytes: bytes))
    } catch {
      reading.failed = true
    }
    while let part = try? channel.readInbound(as: HTTPServerRequestPart.self), !reading.ended {
      switch part {
      case .head(let head): reading.head = head
      case .body(let body): reading.content += body.readableBytesView
      case .end(let trailers):
        reading.trailers = trailers
        reading.ended = true
      }
    }
    return reading
  }

  /// NIO leaves some of the white space after a value that does not belong to it (RFC 9112, 5.1).
  private static func trimmed(_ headers: HTTPHeaders) -> [[String]] {
    headers.map { field in
      let value = field.value.utf8
      let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map(value.index(after:)) ?? value.startIndex
      return [field.name, String(value[..<end]) ?? ""]
    }
  }

  @Test("Every request head that is taken means the same to llhttp")
  func heads() {
    var random = SeededNumbers(seed: 2_026)
    var taken = 0
    for round in 0..<20_000 {
      let bytes = GeneratedRequests.head(using: &random, mutations: round % 4)
      let ours = readRequest(bytes)
      // llhttp has a list of methods, and takes no others.
      guard ours.outcome == .complete, ours.kind != .other else { continue }
      // Nor does it take raw bytes from 0x80 in a target, which the policy judges here.
      guard ours.target.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
      taken += 1
      let text = String(decoding: bytes, as: UTF8.self).debugDescription
      let theirs = llhttp(Array(bytes[..<ours.byteCount]))
      guard let head = theirs.head, !theirs.failed else {
        Issue.record("taken by us only: \(text)")
        return
      }
      let fields = Self.trimmed(head.headers)
      let length = fields.first { $0[0].lowercased() == "content-length" }.flatMap { Int($0[1]) } ?? 0
      let framing: RequestFraming =
        head.headers.contains(name: "transfer-encoding") ? .chunked : length == 0 ? .none : .length(length)
      #expect(head.method.rawValue == ours.method && head.uri == ours.target, "\(text)")
      #expect(fields == ours.fields, "\(text)")
      #expect((head.version == .http1_1) == ours.isHTTP11 && framing == ours.framing, "\(text)")
      #expect(theirs.ended == (ours.framing == .none), "\(text)")
      if fields != ours.fields || framing != ours.framing { return }
    }
    // If nearly nothing were taken, this would have compared nothing.
    #expect(taken > 5_000)
  }

  @Test("Every chunked body that is taken holds the same content and trailers for llhttp")
  func chunks() {
    var random = SeededNumbers(seed: 7)
    let head = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    var taken = 0
    for round in 0..<20_000 {
      let bytes = GeneratedRequests.chunkedBody(using: &random, mutations: round % 4)
      let ours = decode([bytes])
      guard let section = ours.trailers else { continue }
      taken += 1
      let text = String(decoding: bytes, as: UTF8.self).debugDescription
      let theirs = llhttp(head + bytes.dropLast(ours.rest.count))
      var trailers: [[String]] = []
      TrailerSection.forEachLine(section) { trailers.append([$1.string($0.name), $1.string($0.value)]) }
      let same =
        !theirs.failed && theirs.ended && theirs.content == ours.content
        && (theirs.trailers.map(Self.trimmed) ?? []) == trailers
      #expect(same, "\(text)")
      if !same { return }
    }
    #expect(taken > 5_000)
  }
}

/// Requests that are mostly right, and mutations of them.
enum GeneratedRequests {
  static func head(using random: inout SeededNumbers, mutations: Int) -> [UInt8] {
    func pick(_ choices: [String]) -> String { choices[Int.random(in: 0..<choices.count, using: &random)] }
    var text = pick(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
    text +=
      " "
      + pick(["/", "/a/b?c=d&e", "/%2e%2e/x", "/a;b=c", "http://abs.example/x?y", "/~u!$&'()*+,;=:@", "/[]|\\^`{}\""])
    text += " " + pick(["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"]) + "\r\n"
    text += pick(["Host: app.example.com", "host:a:80", "HOST: \t[::1]:8080 ", "Host: 127.0.0.1"]) + "\r\n"
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      text +=
        pick([
          "Accept: text/html,*/*;q=0.8", "Cookie: a=b; c=d", "X-Empty:", "X-Tab:\ta\tb\t", "Connection: keep-alive",
          "Connection: close", "Connection: x, close", "Content-Length: 0", "Content-Length: 17",
          "Transfer-Encoding: chunked", "Accept-Language: d\u{e9}", "X!#$%&'*+-.^_`|~9: odd", "Expect: 100-continue",
          "User-Agent: Mozilla/5.0 (X11)",
        ]) + pick(["", "", "", "", " ", "\t", " \t", "\t "]) + "\r\n"
    }
    return mutate(Array((text + "\r\n").utf8), mutations, using: &random)
  }

  static func chunkedBody(using random: inout SeededNumbers, mutations: Int) -> [UInt8] {
    func pick(_ choices: [String]) -> String { choices[Int.random(in: 0..<choices.count, using: &random)] }
    var text = ""
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let content = String("0123456789\r\nabcdef".prefix(Int.random(in: 1...16, using: &random)))
      let size = String(content.utf8.count, radix: 16, uppercase: Bool.random(using: &random))
      text += pick(["", "", "0", "000"]) + size + pick(["", "", "", ";a", ";a=b", ";a=\"b c\"", ";a;b=c"]) + "\r\n"
      text += content + "\r\n"
    }
    text += pick(["0", "0", "00"]) + "\r\n" + pick(["", "", "X-Sum: abc\r\n", "A:b\r\nC: d \r\n"]) + "\r\n"
    return mutate(Array(text.utf8), mutations, using: &random)
  }

  /// Changes, takes away, puts in or doubles bytes, those that matter to parsers more often.
  static func mutate(_ original: [UInt8], _ count: Int, using random: inout SeededNumbers) -> [UInt8] {
    let telling = Array("\r\n\r\n \t:;,=0159afAFxX+-\0\u{7f}/?#@\"%".utf8) + [0x80, 0xFF]
    var bytes = original
    for _ in 0..<count where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let byte =
        Int.random(in: 0..<3, using: &random) == 0
        ? UInt8.random(in: 0...255, using: &random) : telling[Int.random(in: 0..<telling.count, using: &random)]
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.remove(at: place)
      case 1: bytes.insert(byte, at: place)
      case 2: bytes.insert(contentsOf: bytes[place..<min(place + 8, bytes.count)], at: place)
      default: bytes[place] = byte
      }
    }
    return bytes
  }
}
