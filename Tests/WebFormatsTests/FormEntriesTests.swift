import Testing

@testable import WebFormats

@Suite("Submitted forms")
struct FormEntriesTests {
  private func read(_ body: String, _ type: String) -> FormEntries? {
    FormEntries(parsing: Array(body.utf8), contentType: Array(type.utf8))
  }

  private func multipart(_ parts: [String], end: String = "--b--\r\n") -> FormEntries? {
    read(parts.map { "--b\r\n\($0)\r\n" }.joined() + end, "multipart/form-data; boundary=b")
  }

  private func entry(_ name: String, _ text: String) -> FormEntries.Entry {
    FormEntries.Entry(name: name, content: .text(text))
  }

  @Test("A url-encoded form is read in its order, repetitions and empty values included")
  func urlEncoded() throws {
    let form = try #require(
      read("a=1+2&b=%E2%82%AC%0D%0A%22%3C&a=&c%5B%5D=x", "application/x-www-form-urlencoded; charset=UTF-8"))
    #expect(form.encoding == .urlEncoded)
    #expect(form.entries == [entry("a", "1 2"), entry("b", "€\r\n\"<"), entry("a", ""), entry("c[]", "x")])
  }

  @Test("A multipart form is read, and a choice of files without a file stays one")
  func multipartForm() throws {
    let form = try #require(
      multipart([
        "Content-Disposition: form-data; name=\"a\"\r\n\r\nline\r\n--a\r\n-- €",
        "content-disposition: form-data; name=\"q%22\"\r\n\r\n",
        "Content-Disposition: form-data; name=\"file\"; filename=\"\"\r\n"
          + "Content-Type: application/octet-stream\r\n\r\n",
      ]))
    #expect(form.encoding == .multipart)
    #expect(
      form.entries == [
        entry("a", "line\r\n--a\r\n-- €"), entry("q%22", ""), FormEntries.Entry(name: "file", content: .noFile),
      ])
    #expect(multipart([])?.entries == [], "no entries at all")
    #expect(read("--a b--", "multipart/form-data; boundary=\"a b\"") == nil, "browsers send no such boundary")
  }

  @Test("A form with a file is not read, nor what no browser sends")
  func refused() {
    let disposition = "Content-Disposition: form-data; name=\"a\""
    for part in [
      "\(disposition); filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nx",
      "\(disposition); filename=\"\"\r\n\r\nx", "\(disposition); filename=\"x.txt\"\r\n\r\n",
      "\(disposition)\r\nContent-Type: text/plain\r\n\r\nx", "\(disposition)\r\n\(disposition)\r\n\r\nx", "\r\nx",
      "\(disposition)\r\nContent-Transfer-Encoding: base64\r\n\r\nx", "\(disposition); more\r\n\r\nx",
      "Content-Disposition: attachment; name=\"a\"\r\n\r\nx", "\(disposition)\r\n\r\n\u{0}",
      "Content-Disposition: form-data; name=\"\"\r\n\r\nx", "Content-Disposition: form-data\r\n\r\nx",
      "\(disposition)x",
      "Content-Disposition: form-data; name=\"a", "",
    ] { #expect(multipart([part]) == nil, "\(part)") }
    let good = "\(disposition)\r\n\r\nx"
    for end in ["", "--b", "--b-", "--b--x", "--b--\r\nx", "--b\r\n"] {
      #expect(multipart([good], end: end) == nil, "\(end)")
    }
    #expect(multipart([good], end: "--b--") != nil)
    for type in ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=c"] {
      #expect(read("--b\r\n\(good)\r\n--b--", type) == nil, "\(type)")
    }
    for type in ["text/plain", "application/json", "", "application/x-www-form-urlencoded2"] {
      #expect(read("a=1", type) == nil, "\(type)")
    }
    for body in ["a=%00", "a=%E9", "a=é", "a=%2", "=x"] {
      #expect(read(body, "application/x-www-form-urlencoded") == nil, "\(body)")
    }
  }

  @Test("The number of entries and the length of names are limited")
  func limits() {
    let limit = FormEntries.entryLimit
    let pair = "a=1&"
    #expect(
      read(String(repeating: pair, count: limit), "application/x-www-form-urlencoded")?.entries.count == limit)
    #expect(read(String(repeating: pair, count: limit + 1), "application/x-www-form-urlencoded") == nil)
    let part = "Content-Disposition: form-data; name=\"a\"\r\n\r\n1"
    #expect(multipart(Array(repeating: part, count: limit))?.entries.count == limit)
    #expect(multipart(Array(repeating: part, count: limit + 1)) == nil)
    let name = String(repeating: "n", count: FormEntries.nameLimit + 1)
    #expect(multipart(["Content-Disposition: form-data; name=\"\(name)\"\r\n\r\n1"]) == nil)
    #expect(read("\(name)=1", "application/x-www-form-urlencoded") == nil)
  }

  @Test("No cut of a multipart form is read, and none traps")
  func cuts() {
    let whole = Array(
      ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b\r\n"
        + "Content-Disposition: form-data; name=\"f\"; filename=\"\"\r\nContent-Type: a/b\r\n\r\n\r\n--b--").utf8)
    let type = Array("multipart/form-data; boundary=b".utf8)
    #expect(FormEntries(parsing: whole, contentType: type)?.entries.count == 2)
    for count in 0..<whole.count {
      #expect(FormEntries(parsing: Array(whole[..<count]), contentType: type) == nil, "\(count)")
    }
  }
}
