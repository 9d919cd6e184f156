import RandomTesting
import Testing
import WebFormats

@testable import HTTPWire

// Cases: known names, near-misses, character classes against their grammar, ends of field text against a naive loop,
// decimal numbers, list elements.

@Suite("Fields and characters")
struct FieldTests {
  static let names: [KnownField: String] = [
    .contentLength: "content-length", .transferEncoding: "transfer-encoding", .host: "host", .expect: "expect",
    .connection: "connection", .keepAlive: "keep-alive", .proxyConnection: "proxy-connection", .te: "te",
    .trailer: "trailer", .upgrade: "upgrade", .http2Settings: "http2-settings",
    .proxyAuthenticate: "proxy-authenticate", .proxyAuthorization: "proxy-authorization", .cookie: "cookie",
    .setCookie: "set-cookie", .authorization: "authorization", .accept: "accept",
    .acceptLanguage: "accept-language", .origin: "origin",
    .userAgent: "user-agent", .secFetchMode: "sec-fetch-mode", .secFetchSite: "sec-fetch-site",
    .xRequestedWith: "x-requested-with", .forwarded: "forwarded", .xForwardedFor: "x-forwarded-for",
    .xForwardedHost: "x-forwarded-host", .xForwardedProto: "x-forwarded-proto", .xRealIP: "x-real-ip",
    .xRequestID: "x-request-id", .traceparent: "traceparent", .xForwardedURI: "x-forwarded-uri",
    .xOriginalURI: "x-original-uri", .xOriginalURL: "x-original-url", .xRewriteURL: "x-rewrite-url",
    .location: "location", .contentLocation: "content-location", .refresh: "refresh", .destination: "destination",
    .depth: "depth", .date: "date",
  ]

  private func classify(_ name: [UInt8]) -> KnownField {
    // Something before and after, so that a read beside the name would show.
    let bytes = Array("zz".utf8) + name + Array("::".utf8)
    return KnownField.classify(bytes.span.bytes, at: 2, count: name.count)
  }

  private static let tokenCharacters = Array(
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  @Test("Every known name is known in any case")
  func known() {
    #expect(Self.names.count == KnownField.allCases.count - 1)
    var random = SeededNumbers(seed: 1)
    for (field, name) in Self.names {
      #expect(classify(Array(name.utf8)) == field)
      #expect(classify(Array(name.uppercased().utf8)) == field)
      for _ in 0..<20 {
        let mixed = name.utf8.map { $0 &- 0x61 < 26 && Bool.random(using: &random) ? $0 & 0xDF : $0 }
        #expect(classify(mixed) == field)
      }
    }
  }

  @Test("A name that differs from a known one in any character is not known")
  func nearMisses() {
    let known = Set(Self.names.values)
    for name in Self.names.values {
      let bytes = Array(name.utf8)
      var misses: [[UInt8]] = [bytes + [0x73], [0x78] + bytes, Array(bytes.dropLast()), Array(bytes.dropFirst())]
      for place in bytes.indices {
        for character in Self.tokenCharacters where character | 0x20 != bytes[place] || bytes[place] == 0x2D {
          guard character.asciiLowercased != bytes[place] else { continue }
          var miss = bytes
          miss[place] = character
          misses.append(miss)
        }
      }
      for miss in misses where !known.contains(String(decoding: miss.map(\.asciiLowercased), as: UTF8.self)) {
        #expect(classify(miss) == .other, "\(String(decoding: miss, as: UTF8.self))")
      }
    }
  }

  @Test("The character classes hold exactly what their grammar says, of all 256 bytes")
  func characterClasses() {
    let own = CharacterClass("az09 ~\u{0}")
    for byte in UInt8.min...UInt8.max {
      #expect(CharacterClass.token.contains(byte) == Self.tokenCharacters.contains(byte), "\(byte)")
      #expect(CharacterClass.isOfTarget(byte) == ((0x21...0x7E).contains(byte) || byte >= 0x80), "\(byte)")
      #expect(own.contains(byte) == Array("az09 ~\u{0}".utf8).contains(byte), "\(byte)")
    }
  }

  @Test("A token ends at its first byte that is not a token character, whichever byte of a word that is")
  func endOfToken() {
    for byte in UInt8.min ... .max {
      for place in 0..<38 {
        var bytes = Array("X-Forwarded-User-09azAZ-abcdefgh-IJKLMNOP-42".utf8)
        bytes[place] = byte
        let expected = CharacterClass.token.contains(byte) ? bytes.count : place
        #expect(bytes.span.bytes.endOfToken(from: 0) == expected, "\(byte) at \(place)")
      }
    }
  }

  @Test("The end of field text is where a naive loop finds it, whatever the bytes")
  func endOfFieldText() {
    var random = SeededNumbers(seed: 2)
    // Bytes beside the borders of the class come often, so that borrows between lanes are met.
    let edges: [UInt8] = [0x00, 0x08, 0x09, 0x0A, 0x0D, 0x1F, 0x20, 0x21, 0x7E, 0x7F, 0x80, 0x81, 0x9F, 0xA0, 0xFF]
    for round in 0..<30_000 {
      let count = Int.random(in: 0...40, using: &random)
      let bytes = (0..<count).map { _ -> UInt8 in
        switch round % 3 {
        case 0: UInt8.random(in: 0...255, using: &random)
        case 1: edges[Int.random(in: 0..<edges.count, using: &random)]
        default: Int.random(in: 0..<20, using: &random) == 0 ? 0x09 : UInt8.random(in: 0x20...0x7E, using: &random)
        }
      }
      let start = Int.random(in: 0...count, using: &random)
      let naive = bytes[start...].firstIndex { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F } ?? count
      let found = bytes.span.bytes.endOfFieldText(from: start)
      #expect(found == naive, "\(bytes) from \(start)")
      if found != naive { return }
    }
  }

  @Test("Names and values of HTTP/2 are what a look at each byte says, at every length and place")
  func namesAndValues() {
    let lengths = Array(0...41) + [63, 64, 65, 100]
    for byte in UInt8.min ... .max {
      for count in lengths {
        for place in Set([0, 1, 3, 4, 7, 8, count / 2, count - 9, count - 8, count - 2, count - 1]) {
          guard place >= 0, place < count else { continue }
          var bytes = [UInt8](repeating: 0x61, count: count)
          bytes[place] = byte
          let isName = Self.tokenCharacters.contains(byte) && !(0x41...0x5A).contains(byte)
          let isSpace = byte == 0x20 || byte == 0x09
          let isValue = isSpace ? place > 0 && place < count - 1 : byte >= 0x20 && byte != 0x7F
          let found = bytes.withUnsafeBytes { ($0.isFieldName, $0.isFieldValue) }
          if found != (isName, isValue) { Issue.record("\(byte) at \(place) of \(count): \(found)") }
        }
      }
    }
    [UInt8]().withUnsafeBytes {
      #expect(!$0.isFieldName)
      #expect($0.isFieldValue)
    }
  }

  @Test("A literal is equal to itself alone, and without regard to case to its capitals")
  func literals() {
    let literals: [StaticString] = [
      "a", "te", "put", "host", "https", "cookie", "chunked", "trailers", "keep-alive", "transfer-encoding",
      "sec-websocket-accept",
    ]
    for literal in literals {
      let text = literal.withUTF8Buffer { Array($0) }
      // At an odd place, with more around it.
      func look(_ bytes: [UInt8]) -> (Bool, Bool) {
        let whole = [0x78] + bytes + [0x78]
        let range = 1..<bytes.count + 1
        return (whole.span.bytes.equals(literal, range), whole.span.bytes.equalsIgnoringCase(literal, range))
      }
      #expect(look(text) == (true, true), "\(literal)")
      #expect(look(Array(text.dropLast())) == (false, false))
      for place in text.indices {
        for byte in UInt8.min ... .max where byte != text[place] {
          var bytes = text
          bytes[place] = byte
          let isCapital = (0x41...0x5A).contains(byte) && byte | 0x20 == text[place]
          #expect(look(bytes) == (false, isCapital), "\(literal): \(byte) at \(place)")
        }
      }
    }
  }

  @Test("Decimal numbers are digits only, at most eighteen of them")
  func decimals() {
    func decimal(_ text: String) -> Int? {
      let bytes = Array(text.utf8)
      return bytes.span.bytes.decimal(0..<bytes.count)
    }
    #expect(decimal("0") == 0 && decimal("007") == 7 && decimal("999999999999999999") == 999_999_999_999_999_999)
    for text in ["", "+1", "-1", " 1", "1 ", "1_0", "0x1", "1e1", "/", ":", "\u{ff11}", "1000000000000000000"] {
      #expect(decimal(text) == nil, "\(text)")
    }
  }

  @Test("List elements come without white space, and empty ones not at all")
  func lists() {
    let bytes = Array(" ,a, b\t,,c d , ".utf8)
    let span = bytes.span.bytes
    var elements: [String] = []
    span.forEachListElement(0..<bytes.count) { elements.append(span.string($0)) }
    #expect(elements == ["a", "b", "c d"])
  }

  @Test("A table knows the first of each field, and which are repeated")
  func table() {
    var head = RequestHead()
    let text = "GET / HTTP/1.1\r\nVia: x\r\nCookie: a=1\r\nHost: h\r\nCookie: b=2\r\nVia: y\r\n\r\n"
    let read = readRequest(Array(text.utf8), into: &head)
    #expect(read.outcome == .complete)
    #expect(head.fields.index(of: .cookie) == 1 && head.fields.isRepeated(.cookie))
    #expect(head.fields.index(of: .host) == 2 && !head.fields.isRepeated(.host))
    #expect(head.fields.index(of: .origin) == nil && !head.fields.has(.origin))
    #expect(head.fields.line(.host)?.known == .host && head.fields.lines.count == 5)
  }
}
