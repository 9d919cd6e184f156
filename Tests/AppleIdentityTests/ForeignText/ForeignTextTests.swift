import Testing

@testable import AppleIdentity

@Suite("Base64url")
struct Base64URLTests {
  @Test("Goes there and back for every length and byte")
  func roundTrip() {
    for length in 0..<70 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
      let text = Base64URL.encode(bytes)
      #expect(!text.contains("=") && !text.contains("+") && !text.contains("/"))
      #expect(Base64URL.decode(text.utf8) == bytes)
    }
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
  }

  @Test(
    "Has one text for each sequence of bytes: padding, the other alphabet, stray bits and characters are refused",
    arguments: ["A", "AA=", "AA==", "AB", "AAB", "A+", "A/", "AA A", "AA\n", "AAAAA", "ÄÄ", "AA.A"])
  func strict(text: String) {
    #expect(Base64URL.decode(text.utf8) == nil)
  }
}

@Suite("JSON from outside")
struct ForeignJSONTests {
  private func problem(_ text: String, bytes: Int = 1000, depth: Int = 4) -> ForeignJSONProblem? {
    do throws(ForeignJSONProblem) {
      _ = try ForeignJSON.object(Array(text.utf8), maximumBytes: bytes, maximumDepth: depth)
      return nil
    } catch {
      return error
    }
  }

  @Test("Is read into values that keep Booleans, integers, numbers and strings apart")
  func values() throws {
    let object = try ForeignJSON.object(
      Array(#"{"b":true,"i":1,"n":1.5,"s":"1","a":[1,"x"],"o":{"z":null}}"#.utf8), maximumBytes: 1000, maximumDepth: 4)
    #expect(object["b"] == .bool(true))
    #expect(object["i"] == .integer(1))
    #expect(object["n"] == .number(1.5))
    #expect(object["s"] == .string("1"))
    #expect(object["a"] == .array([.integer(1), .string("x")]))
    #expect(object["o"] == .object(["z": .null]))
  }

  @Test("Is bounded in size and depth, and brackets in strings do not count")
  func bounds() {
    #expect(problem("{\"a\":\"\(String(repeating: "x", count: 1000))\"}") == .tooLarge)
    #expect(problem(#"{"a":[[[1]]]}"#) == nil)
    #expect(problem(#"{"a":[[[[1]]]]}"#) == .tooDeep)
    #expect(problem(#"{"a":"[[[[[[\"[[[[","b":"\\"}"#) == nil)
  }

  @Test(
    "Is refused if it is no object, or has numbers that nothing can hold",
    arguments: ["", "[]", "1", "{", "{}}", "{\"a\":1e999}", "{\"a\":01}", "{\"a\":NaN}", "{a:1}"])
  func notAnObject(text: String) {
    #expect(problem(text) == .notAnObject)
  }

  @Test("Huge numbers are numbers and trap nowhere")
  func hugeNumbers() throws {
    let object = try ForeignJSON.object(
      Array(#"{"a":1e300,"b":9223372036854775807,"c":9223372036854775808,"d":-9223372036854775809}"#.utf8),
      maximumBytes: 1000, maximumDepth: 4)
    #expect(object["a"] == .number(1e300))
    #expect(object["b"] == .integer(.max))
    #expect(object["c"] == .number(9_223_372_036_854_775_808))
    #expect(object["d"] == .number(-9_223_372_036_854_775_809))
  }
}

@Suite("Foreign text in logs")
struct LogTextTests {
  @Test("Is printable ASCII of bounded length")
  func sanitised() {
    #expect(LogText.sanitised("a\r\nb\u{1B}[31m\u{202E}ü") == "a??b?[31m?????")
    #expect(LogText.sanitised(String(repeating: "x", count: 1000)).utf8.count == 200)
  }
}
