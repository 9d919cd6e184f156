import AccessPolicy
import RandomTesting
import Testing

@Suite("Classification of a path, as bytes")
struct PathClassificationTests {
  @Test(
    "A path that every server reads the same way is canonical",
    arguments: [
      "/", "/public/", "/public/x", "/a.b/c-d_e~f", "/.well-known/x", "/..hidden", "/a..b/c", "/x...",
      "/user@example.com",
      "/user%40example.com", "/a+b,c=d&e!f'g(h)*:$", "/a|b[c]", "/%20", "/a%20b", "/100%25", "/100%25zz",
      "/a(b)", "/(b)/c", "/wiki/f_(g(x))", "/GL(V(x))", "/(S(x)", "/(S(x)y)", "/(1(x))",
      "/((x))", "/()", "/(Sx(y))", "/(S)/(x)", "/a/%28S%28x%29",
      "/wiki/C++", "/wiki/C%2B%2B/x", "/+", "/a+/b", "/+a..", "/.net+core", "/x%2B..y",
      "/gr%C3%BC%C3%9Fe",
      "/gr%c3%bc%c3%9fe", "/%E4%BB%80%E4%B9%88%EF%BC%88x%EF%BC%89", "/%F0%9F%8D%8E", "/%22%3C%3E%5E%60%7B%7C%7D",
    ])
  func canonical(path: String) {
    #expect(classify(path) == .canonical)
  }

  @Test(
    "A path that servers read in different ways is ambiguous, and the strongest reason is reported",
    arguments: [
      ("/%61dmin", .encodedUnreserved), ("/%2dx", .encodedUnreserved), ("/x%2E", .encodedUnreserved),
      ("/a%7Eb", .encodedUnreserved),
      ("/caf\u{E9}", .rawNonASCII), ("/a;b", .parameter), ("/a%3Bb", .parameter), ("/a;jsessionid=1.2", .parameter),
      ("/;x/admin", .hidingParameter), ("/%3Bx", .hidingParameter), ("/x/;y", .parameter),
      ("/a%3Fb", .encodedDelimiter), ("/a%23b", .encodedDelimiter),
      ("/a%2Fb", .encodedSeparator),
      ("/a%2fb", .encodedSeparator), ("/a%5Cb", .encodedSeparator), ("/a//b", .emptySegment), ("/a//", .emptySegment),
      ("//", .leadingDoubleSlash), ("//admin", .leadingDoubleSlash), ("/%252e%252e/admin", .doubleEncoding),
      ("/%252e", .doubleEncoding), ("/%252E", .doubleEncoding), ("/%25%32e", .nestedEncoding),
      ("/%25%32%65", .nestedEncoding), ("/%252%65", .nestedEncoding), ("/%25%252e", .doubleEncoding),
      ("/%25252e", .doubleEncoding), ("/%25u002e", .nestedEncoding), ("/%25U002e", .nestedEncoding),
      ("/%2Fadmin", .leadingDoubleSlash), ("/%5cadmin", .leadingDoubleSlash), ("/caf%E9", .legacyByte),
      ("/gr%FCn", .legacyByte), ("/%E9t%E9", .legacyByte), ("/caf%E9/x", .legacyByte), ("/x;%E9", .legacyByte),
      ("/gr%F6%DFe", .malformedUTF8), ("/caf%C3%A9%E9", .malformedUTF8), ("/%E9", .malformedUTF8),
      ("/%B7/admin", .malformedUTF8), ("/%B7;x/admin", .malformedUTF8), ("/.%B7/admin", .malformedUTF8),
      ("/..%E9x", .malformedUTF8), ("/x%DA../admin", .malformedUTF8), ("/x%E0Ab", .malformedUTF8),
      ("/voil%E0", .legacyByte), ("/%A3%AE/x", .malformedUTF8), ("/a%81Db", .malformedUTF8),
      ("/a%A1Db", .malformedUTF8), ("/a%C0b", .malformedUTF8), ("/%25%E9x", .malformedUTF8),
      ("/a;b%2Fc", .hidingParameter), ("/a%3Bb%5Cc/d", .hidingParameter), ("/a;b/c%2Fd", .encodedSeparator),
      ("/a;b%3Fc", .hidingParameter), ("/a%EF%BC%9Bb%2Fc", .hidingParameter), ("/%EF%BC%9Bx", .hidingParameter),
      ("/a;b%EF%BC%9Fc", .hidingParameter), ("/a%EF%BC%9Bb%EF%BC%9Fc", .hidingParameter), ("/..:x", .dots),
      ("/.%3Ax", .dots), ("/x/..::$DATA/admin", .dots),
      ("/a%2500", .doubleEncoding),
      // A byte that is dropped together with the one before it, and characters that are dropped or read as digits.
      ("/x/%A4a../admin", .malformedUTF8), ("/x/%E9-../admin", .malformedUTF8), ("/%A4a.%A4a./x", .malformedUTF8),
      ("/x/%A4a%A4;../admin", .malformedUTF8), ("/x/%E9%61../admin", .malformedUTF8), ("/%E9t..pdf", .legacyByte),
      ("/x/%A8E/admin", .malformedUTF8), ("/x/%A9q%A9q/admin", .malformedUTF8), ("/x/%D95/admin", .malformedUTF8),
      ("/m%25%D9%A6%D9%A5trics", .nestedEncoding), ("/x/%25%D9%A2e/admin", .nestedEncoding),
      ("/x/%D9%AA2e/admin", .nestedEncoding), ("/..%C3%A9/admin", .confusable), ("/.%C3%A9./admin", .confusable),
      ("/..%EF%BC%85/admin", .confusable), ("/.%EF%BD%81./admin", .confusable),
      ("/%c0%ae%c0%ae/admin", .malformedUTF8), ("/%e0%80%ae", .malformedUTF8), ("/%80", .malformedUTF8),
      ("/%c3", .malformedUTF8),
      ("/%c3/x", .malformedUTF8), ("/%ed%a0%80", .malformedUTF8), ("/%f5%80%80%80", .malformedUTF8),
      ("/%ff", .malformedUTF8),
      ("/%EF%BC%8E%EF%BC%8E/admin", .confusable), ("/x%EF%BC%8Fadmin", .confusable), ("/%E2%80%A5/admin", .confusable),
      ("/x%E2%88%95admin", .confusable), ("/\u{FF0E}\u{FF0E}/admin", .confusable), ("/...", .dots), ("/a/.../b", .dots),
      ("/(S(x))", .cookieless), ("/(S(lit3py55t21z5v55vlm25s55))/admin", .cookieless), ("/(S())/", .cookieless),
      ("/a/(A(b)S(c)F(d))/e", .cookieless), ("/a/(S(x))b", .cookieless), ("/a/(s(x))../b", .cookieless),
      ("/(S(()))", .cookieless), ("/(S())x)/a", .cookieless), ("/%28S%28x%29%29/a", .cookieless),
      ("/(S(%20))", .cookieless),
      ("/(S(a))/(S(b))", .cookieless), ("/(S(x))/a;b", .cookielessAmongOthers), ("/(S(x;y))", .cookielessAmongOthers),
      ("/a%2F(S(x))", .cookielessAmongOthers), ("/a%5C(S(x))/b", .cookielessAmongOthers),
      ("/(S(x))/caf%E9", .cookielessAmongOthers), ("/(S(x))//a", .cookielessAmongOthers),
      ("/(S(a%2Fb))", .encodedSeparator),
      ("/;a/(S(x))", .hidingParameter), ("//a/(S(x))", .leadingDoubleSlash), ("/(S(x))/.../a", .dots),
      ("/..%20/admin", .dots), ("/..+/admin", .dots), ("/...+/admin", .dots), ("/..%2B/admin", .dots),
      ("/+../admin", .dots), ("/%2e%2e+/admin", .dots), ("/..+;x/admin", .dots), ("/..+:x/admin", .dots),
      ("/..%EF%BC%8B/admin", .dots), ("/x/%E9+../admin", .malformedUTF8), ("/.%20./admin", .dots),
      ("/%2e%2e%2e/", .dots), ("/a%2Fb//c%252e;d", .doubleEncoding),
    ] as [(String, PathAmbiguity)])
  func ambiguous(path: String, reason: PathAmbiguity) {
    #expect(classify(path) == .ambiguous(reason))
  }

  @Test(
    "A path that no honest client sends is refused",
    arguments: [
      ("", .notAbsolute), ("admin", .notAbsolute), ("*", .notAbsolute), ("http://x/", .notAbsolute),
      ("%2Fadmin", .notAbsolute),
      ("\\admin", .notAbsolute), ("/a b", .controlByte), ("/a\tb", .controlByte), ("/a\r\nb", .controlByte),
      ("/a\nb", .controlByte),
      ("/a\u{0}b", .controlByte), ("/a\u{7F}b", .controlByte), ("/%00", .encodedControlByte),
      ("/public/%00/../admin", .encodedControlByte),
      ("/%09/evil", .encodedControlByte), ("/a%0d%0aX-Y:z", .encodedControlByte), ("/%7f", .encodedControlByte),
      ("/%", .malformedEncoding), ("/%2", .malformedEncoding), ("/%zz", .malformedEncoding),
      ("/a%2gb", .malformedEncoding),
      ("/%u002e%u002e/", .malformedEncoding), ("/%%32e", .malformedEncoding), ("/a\\b", .backslash),
      ("/public\\..\\admin", .backslash),
      ("/..\\admin", .backslash), ("/a?b", .delimiter), ("/a#b", .delimiter), ("/.", .dotSegment), ("/..", .dotSegment),
      ("/./admin", .dotSegment), ("/public/../admin", .dotSegment), ("/public/..", .dotSegment),
      ("/%2e%2e/admin", .dotSegment),
      ("/public/%2E%2e/admin", .dotSegment), ("/public/.%2e/admin", .dotSegment), ("/public/%2e./admin", .dotSegment),
      ("/%2e/admin", .dotSegment), ("/public/..%2fadmin", .dotSegment), ("/public/..%5cadmin", .dotSegment),
      ("/public%2f..%2fadmin", .dotSegment), ("/public%5c../admin", .dotSegment), ("/public/..;/admin", .dotSegment),
      ("/public/..;x=y/admin", .dotSegment), ("/public/%2e%2e;/admin", .dotSegment),
      ("/public/..%3b/admin", .dotSegment),
      ("/public/.;/admin", .dotSegment), ("/public/..%23", .dotSegment), ("/public/..%3f/x", .dotSegment),
      ("//..//admin", .dotSegment), ("/a;b/../c", .dotSegment),
    ] as [(String, PathRefusal)])
  func refused(path: String, reason: PathRefusal) {
    #expect(classify(path) == .refused(reason))
  }

  @Test("Every single byte has its place")
  func everyByte() {
    for byte in UInt8.min...UInt8.max {
      let path: [UInt8] = [0x2F, 0x61, byte, 0x61]
      let expected: PathClassification =
        switch byte {
        case 0...0x20, 0x7F: .refused(.controlByte)
        case UInt8(ascii: "\\"): .refused(.backslash)
        case UInt8(ascii: "?"), UInt8(ascii: "#"): .refused(.delimiter)
        case UInt8(ascii: "%"): .refused(.malformedEncoding)
        case UInt8(ascii: ";"): .ambiguous(.parameter)
        case 0xA4...0xA7, 0xAA...0xBF, 0xC2...: .ambiguous(.legacyByte)
        case 0x80...: .ambiguous(.malformedUTF8)
        default: .canonical
        }
      #expect(PathClassification.classify(path.span) == expected, "byte \(byte)")
    }
  }

  @Test("Every single encoded byte has its place, in either case of its digits")
  func everyEncodedByte() {
    for byte in UInt8.min...UInt8.max {
      let expected: PathClassification =
        switch byte {
        case 0...0x1F, 0x7F: .refused(.encodedControlByte)
        case UInt8(ascii: "/"), UInt8(ascii: "\\"): .ambiguous(.encodedSeparator)
        case UInt8(ascii: "?"), UInt8(ascii: "#"): .ambiguous(.encodedDelimiter)
        case UInt8(ascii: ";"): .ambiguous(.parameter)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "~"):
          .ambiguous(.encodedUnreserved)
        case 0xA4...0xA7, 0xAA...0xBF, 0xC2...: .ambiguous(.legacyByte)
        case 0x80...: .ambiguous(.malformedUTF8)
        default: .canonical
        }
      let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
      for text in ["/z%\(digits)z", "/z%\(digits.uppercased())z"] {
        #expect(classify(text) == expected, "\(text)")
      }
    }
  }

  @Test("No bytes trap the judge, and no path that holds a dot segment once decoded is canonical")
  func generated() {
    var generator = SeededNumbers(seed: 7)
    let pieces = [
      "/", ".", "..", "%2e", "%2F", "%5c", ";", "a", "%25", "2e", "%", "\u{E9}", "%c0%ae", "%20", "admin", "//", "%u",
      "%3b",
    ]
    var canonical = 0
    for _ in 0..<20_000 {
      let path =
        "/"
        + (0..<Int.random(in: 0...8, using: &generator)).map { _ in pieces.randomElement(using: &generator)! }.joined()
      let bytes = Array(path.utf8)
      guard PathClassification.classify(bytes.span) == .canonical else { continue }
      canonical += path == "/" ? 0 : 1
      let segments = decode(bytes).split(separator: 0x2F, omittingEmptySubsequences: false)
      #expect(!segments.contains { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }, "\(path)")
      #expect(decode(decode(bytes)) == decode(bytes), "\(path)")
    }
    #expect(canonical > 100)
  }

  private func classify(_ path: String) -> PathClassification {
    PathClassification.classify(Array(path.utf8).span)
  }

  /// Percent-decoding, written apart from the code under test.
  private func decode(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == 0x25, digits.utf8.count == 2, !digits.hasPrefix("+"), !digits.hasPrefix("-"),
        let value = UInt8(digits, radix: 16)
      {
        result.append(value)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }
}
