import Testing
import WebFormats

@Suite("Form fields")
struct FormFieldsTests {
  private func problem(_ form: some Collection<UInt8>, _ limits: FormFields.Limits = FormFields.Limits())
    -> FormFieldsError?
  {
    do throws(FormFieldsError) {
      _ = try FormFields(parsing: form, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test("Form fields are decoded: plus signs, both cases of hexadecimal digits, empty values and missing ones")
  func decoding() throws {
    let form = try FormFields(parsing: Array("a=1+2%2B3&b=%c3%BC&c=&d&=".utf8.dropLast(2)))
    #expect(try form.text(of: "a") == "1 2+3")
    #expect(try form.text(of: "b") == "ü")
    #expect(try form.text(of: "c") == "")
    #expect(try form.text(of: "d") == "")
    #expect(try form.text(of: "e") == nil)
    #expect(form.fields.count == 4)
  }

  @Test("The value of a form field is everything after the first equals sign")
  func equalsSigns() throws {
    #expect(try FormFields(parsing: Array("a=b=c=".utf8)).text(of: "a") == "b=c=")
  }

  @Test("An empty text between two ampersands is not a field")
  func emptyPairs() throws {
    #expect(try FormFields(parsing: Array("&&a=1&&".utf8)).fields.count == 1)
    #expect(try FormFields(parsing: [UInt8]()).fields.isEmpty)
  }

  @Test("Form fields are compared byte by byte: canonically equivalent names differ")
  func equivalentNames() throws {
    // KELVIN SIGN, which String takes for K.
    let form = try FormFields(parsing: Array("%E2%84%AA=1&K=2".utf8))
    #expect(try form.text(of: "K") == "2")
    #expect(form.values(of: "K").count == 1)
  }

  @Test(
    "Form fields are refused if a percent sign has no two digits",
    arguments: ["a=%", "a=%4", "a=%4g", "a=%+1", "a=%-0", "%=1", "a=%%41"])
  func brokenPercent(form: String) {
    #expect(problem(Array(form.utf8)) == .badEncoding)
  }

  @Test(
    "Form fields are refused with bytes that a browser encodes",
    arguments: [0x00, 0x09, 0x0A, 0x0D, 0x20, 0x7F, 0x80, 0xFF])
  func rawBytes(byte: UInt8) {
    #expect(problem(Array("a=".utf8) + [byte]) == .badEncoding)
  }

  @Test("Form fields are refused without a name, or with a very long one")
  func names() {
    #expect(problem(Array("=1".utf8)) == .badName)
    #expect(problem(Array("=".utf8)) == .badName)
    #expect(problem(Array((String(repeating: "a", count: 65) + "=1").utf8)) == .badName)
  }

  @Test("Form fields are refused beyond their limits: 64 KiB, 32 fields")
  func limits() {
    #expect(problem([UInt8](repeating: UInt8(ascii: "a"), count: 65_537)) == .tooLong)
    let many = (0..<33).map { "f\($0)=1" }.joined(separator: "&")
    #expect(problem(Array(many.utf8)) == .tooManyFields)
    var more = FormFields.Limits()
    more.fields = 33
    #expect(problem(Array(many.utf8), more) == nil)
  }

  @Test("Form fields are accepted at their limits: 64 KiB, 32 fields, a name of 64 bytes")
  func atTheLimits() throws {
    #expect(problem(Array("a=".utf8) + [UInt8](repeating: UInt8(ascii: "b"), count: 65_534)) == nil)
    let many = (0..<32).map { "f\($0)=1" }.joined(separator: "&")
    #expect(try FormFields(parsing: Array(many.utf8)).fields.count == 32)
    #expect(problem(Array((String(repeating: "%61", count: 64) + "=1").utf8)) == nil)
    #expect(problem(Array((String(repeating: "%61", count: 65) + "=1").utf8)) == .badName)
  }

  @Test("A repeated field has no value, and one that is not UTF-8 has no text")
  func ambiguous() throws {
    let form = try FormFields(parsing: Array("a=1&a=1&b=%FF".utf8))
    #expect(throws: FormFieldsError.repeated("a")) { try form.text(of: "a") }
    #expect(throws: FormFieldsError.notUTF8("b")) { try form.text(of: "b") }
    #expect(try form.value(of: "b") == [0xFF])
    #expect(form.values(of: "a").count == 2)
  }
}
