import Testing

@testable import WebFormats

@Suite("Untrusted JSON")
struct StrictJSONTests {
  private func problem(_ text: String, bytes: Int = 1000, depth: Int = 4) -> StrictJSONError? {
    do throws(StrictJSONError) {
      _ = try StrictJSON.object(Array(text.utf8), maximumBytes: bytes, maximumDepth: depth)
      return nil
    } catch {
      return error
    }
  }

  @Test("JSON is read into values that distinguish Booleans, integers, numbers and strings")
  func values() throws {
    let object = try StrictJSON.object(
      Array(#"{"b":true,"i":1,"n":1.5,"s":"1","a":[1,"x"],"o":{"z":null}}"#.utf8), maximumBytes: 1000, maximumDepth: 4)
    #expect(object["b"] == .bool(true))
    #expect(object["i"] == .integer(1))
    #expect(object["n"] == .number(1.5))
    #expect(object["s"] == .string("1"))
    #expect(object["a"] == .array([.integer(1), .string("x")]))
    #expect(object["o"] == .object(["z": .null]))
  }

  @Test("A value of any kind is read on demand, within the same bounds")
  func anyKind() throws {
    #expect(try StrictJSON.value(Array("[1]".utf8), maximumBytes: 3, maximumDepth: 1) == .array([.integer(1)]))
    #expect(try StrictJSON.value(Array("null".utf8), maximumBytes: 4, maximumDepth: 0) == .null)
    let refused: [(String, StrictJSONError)] = [("[[1]]", .tooDeep), ("[1,2]  ", .tooLarge), ("", .malformed)]
    for (text, problem) in refused {
      #expect(throws: problem) { try StrictJSON.value(Array(text.utf8), maximumBytes: 6, maximumDepth: 1) }
    }
  }

  @Test("JSON is bounded in size and depth, and brackets in strings do not count")
  func bounds() {
    #expect(problem("{\"a\":\"\(String(repeating: "x", count: 1000))\"}") == .tooLarge)
    #expect(problem(#"{"a":[[[1]]]}"#) == nil)
    #expect(problem(#"{"a":[[[[1]]]]}"#) == .tooDeep)
    #expect(problem(#"{"a":"[[[[[[\"[[[[","b":"\\"}"#) == nil)
  }

  @Test(
    "JSON is refused if it is not exact, or no object",
    arguments: [
      "", " ", "[]", "1", "\"a\"", "{", "{}}", "{}x", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":[1,]}",
      "{\"a\":[,]}",
      "{\"a\" 1}", "{a:1}", "{'a':1}", "{\"a\":1 \"b\":2}", "{\"a\":[1 2]}", "{\"a\":[1}", "{\"a\":tru}",
      "{\"a\":True}",
      "{\"a\":nullx}", "{\"a\":1e999}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":-}", "{\"a\":.5}", "{\"a\":1.}",
      "{\"a\":1e}",
      "{\"a\":0x10}", "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":\"", "{\"a\":\"\n\"}", "{\"a\":\"\u{0}\"}",
      "{\"a\":\"\\x\"}",
      "{\"a\":\"\\u12\"}", "{\"a\":\"\\u+123\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}",
      "{\"a\":\"\\ud800\\u0041\"}",
      "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "\u{FEFF}{}", "{\u{A0}}", "/**/{}",
    ])
  func malformed(text: String) {
    #expect(problem(text) == .malformed)
  }

  @Test("Strings are unescaped, and an escaped quotation mark does not end them")
  func strings() throws {
    let text = #" { "a" : "\"\\\/\b\f\n\r\t\u00fc\uD83D\uDE00ü]}" , "" : [ ] , "o" : { } } "#
    let object = try StrictJSON.object(Array(text.utf8), maximumBytes: 1000, maximumDepth: 4)
    #expect(object["a"] == .string("\"\\/\u{8}\u{C}\n\r\t\u{FC}\u{1F600}ü]}"))
    #expect(object[""] == .array([]))
    #expect(object["o"] == .object([:]))
  }

  @Test("Every text cut short is refused")
  func cutShort() throws {
    let text = Array(#"{"a":[true,false,null,-1.5e+3,{"b":"\u00fcx\n"}],"c":{}}"#.utf8)
    _ = try StrictJSON.object(text, maximumBytes: 1000, maximumDepth: 4)
    for length in 0..<text.count {
      #expect(throws: StrictJSONError.self) {
        try StrictJSON.object(text[..<length], maximumBytes: 1000, maximumDepth: 4)
      }
    }
  }

  /// The JSON text of a value, with every character of its strings escaped.
  private func written(_ value: StrictJSON) -> String {
    switch value {
    case .null: return "null"
    case .bool(let value): return "\(value)"
    case .integer(let value): return "\(value)"
    case .number(let value): return "\(value)"
    case .string(let text):
      let units = text.utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
      return "\"" + units.joined() + "\""
    case .array(let elements): return "[" + elements.map(written).joined(separator: ",") + "]"
    case .object(let members):
      return "{" + members.map { written(.string($0.key)) + ":" + written($0.value) }.joined(separator: ",") + "}"
    }
  }

  @Test("A text with any byte changed is refused, or gives a value that is the same when it is written and read again")
  func changedBytes() {
    let text = Array(#"{"a":[true,-1.5e+3,{"b":"\ud83d\ude00x"}],"c":{"d":null}}"#.utf8)
    var (accepted, refused) = (0, 0)
    for index in text.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[index] = byte
        guard let object = try? StrictJSON.object(changed, maximumBytes: 1000, maximumDepth: 4) else {
          refused += 1
          continue
        }
        accepted += 1
        let again = try? StrictJSON.object(Array(written(.object(object)).utf8), maximumBytes: 1000, maximumDepth: 4)
        #expect(again == object, "\(changed)")
      }
    }
    #expect(accepted > 0 && refused > 0, "\(accepted) accepted, \(refused) refused")
  }

  @Test("Huge numbers are numbers and trap nowhere")
  func hugeNumbers() throws {
    let object = try StrictJSON.object(
      Array(#"{"a":1e300,"b":9223372036854775807,"c":9223372036854775808,"d":-9223372036854775809}"#.utf8),
      maximumBytes: 1000, maximumDepth: 4)
    #expect(object["a"] == .number(1e300))
    #expect(object["b"] == .integer(.max))
    #expect(object["c"] == .number(9_223_372_036_854_775_808))
    #expect(object["d"] == .number(-0x1p63))
  }
}
