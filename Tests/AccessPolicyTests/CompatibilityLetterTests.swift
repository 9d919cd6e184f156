import Foundation
import Testing

@testable import AccessPolicy

@Suite("Compatibility letters")
struct CompatibilityLetterTests {
  @Test("The table says what normalization to NFKC says, of every character")
  func normalization() {
    var differences: [String] = []
    for value in UInt32(0x80)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var letters = CompatibilityLetters.ascii(of: value)
      var bytes: [UInt8] = []
      while letters != 0 {
        bytes.append(UInt8(truncatingIfNeeded: letters))
        letters >>= 8
      }
      let normalized = Array(String(scalar).precomposedStringWithCompatibilityMapping.utf8)
      let isASCII = normalized.allSatisfy { $0 < 0x80 }
      // The outlined letters of Unicode 16 may be younger than the library.
      if isASCII ? bytes != normalized : !bytes.isEmpty && !(0x1CCD6...0x1CCF9).contains(value) {
        differences.append("U+\(String(value, radix: 16)): \(bytes), not \(normalized)")
      }
    }
    #expect(differences.isEmpty, "\(differences.prefix(10))")
  }

  @Test("Every character that ignoring case turns into ASCII is known, by whichever mapping")
  func caseFolding() {
    func ascii(_ text: String) -> [UInt8]? {
      let bytes = Array(text.utf8)
      return bytes.allSatisfy { $0 < 0x80 } ? bytes.map { $0 | 0x20 } : nil
    }
    for value in UInt32(0x80)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let properties = scalar.properties
      var forms = [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping]
      forms.append(String(scalar).precomposedStringWithCompatibilityMapping.uppercased())
      // What is left of a dotted capital I by the simple mapping, and in Turkish.
      forms.append(String(properties.lowercaseMapping.unicodeScalars.filter { $0.value != 0x307 }.map(Character.init)))
      for form in forms {
        guard let expected = ascii(form), !expected.isEmpty, expected.allSatisfy({ (0x61...0x7A).contains($0) }) else {
          continue
        }
        let path = Array(String(scalar).utf8.flatMap { Array("%\(String($0, radix: 16))".utf8) })
        var reading = LooseReading()
        var found: [UInt8] = []
        while let byte = reading.next(in: path.span) { found.append(byte) }
        #expect(found == expected, "U+\(String(value, radix: 16)): \(form)")
      }
    }
  }

  @Test(
    "A path that is one below a denied route where case is ignored is denied, raw and percent-encoded",
    arguments: [
      "/adm\u{131}n", "/ADM\u{130}N/x", "/adm%C4%B1n", "/adm%c4%b0n/x", "/adm%F0%9D%9A%A4n",
      "/ta\u{17F}%6Bs", "/TA%C5%BFKS/", "/tas\u{212A}s/x", "/TAS%E2%84%AAS", "/stra\u{DF}e/x", "/STRA%E1%BA%9EE/",
      "/stra%C3%9Fe",
    ])
  func folded(path: String) throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/", access: .public), RouteSettings(path: "/admin", access: .deny),
      RouteSettings(path: "/tasks/", access: .deny), RouteSettings(path: "/strasse/", access: .deny),
    ])
    let bytes = Array(path.utf8)
    let decision = table.match(bytes.span, .classify(bytes.span))
    #expect(decision.access == .deny)
  }

  @Test(
    "A path that is one below a denied route but for the case of a letter beyond ASCII is denied",
    arguments: ["/m%C3%89trics", "/M%c3%a9TRICS/x", "/m\u{C9}trics", "/%CE%A3%CE%A3", "/%CF%82%CF%83/x"])
  func foldedBeyondASCII(path: String) throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/", access: .public), RouteSettings(path: "/m%C3%A9trics", access: .deny),
      RouteSettings(path: "/%CF%83%CF%82", access: .deny),
    ])
    let bytes = Array(path.utf8)
    let decision = table.match(bytes.span, .classify(bytes.span))
    #expect(decision.access == .deny)
  }

  @Test("Letters that only a case-insensitive application reads as ASCII are canonical in titles and routes")
  func canonicalLetters() throws {
    for path in ["/stra%C3%9Fe/", "/I%C5%9F%C4%B1k/", "/%C4%B0stanbul"] {
      #expect(PathClassification.classify(Array(path.utf8).span) == .canonical)
      let table = try RouteTable(routes: [RouteSettings(path: path, access: .public)])
      let bytes = Array(path.utf8)
      #expect(table.match(bytes.span, .canonical).access == .public)
    }
  }

  @Test(
    "Letters and digits make a path ambiguous, dot segments and separators could be anywhere, signs are canonical",
    arguments: [
      ("/%EF%BD%81dmin", .ambiguous(.compatibilityLetter)), ("/%EF%BC%91", .ambiguous(.compatibilityLetter)),
      ("/%F0%9D%93%AAdmin", .ambiguous(.compatibilityLetter)), ("/o%EF%AC%80ice", .ambiguous(.compatibilityLetter)),
      ("/%EF%BC%8E", .ambiguous(.confusable)), ("/a%EF%BC%8Fb", .ambiguous(.confusable)),
      ("/a%E2%84%80b", .ambiguous(.confusable)), ("/%EF%BC%852e", .ambiguous(.nestedEncoding)),
      ("/..%EF%BC%9B/admin", .ambiguous(.confusable)), ("/..%C2%A0/admin", .ambiguous(.dots)),
      ("/..%EF%BC%9F", .ambiguous(.confusable)), ("/%25%EF%BC%92e", .ambiguous(.nestedEncoding)),
      ("/To_be_continued%E2%80%A6", .canonical), ("/%E2%80%A6and_more", .canonical),
      ("/admin%EF%BC%8Ehtml", .canonical), ("/%EF%BC%85", .canonical), ("/100%EF%BC%85zz", .canonical),
      ("/%E2%80%A6", .ambiguous(.confusable)), ("/%20%E2%80%A5/x", .ambiguous(.confusable)),
      ("/.%EF%BC%8E", .ambiguous(.confusable)), ("/%EF%BC%8E%20;x", .ambiguous(.confusable)),
      ("/%EF%BC%8E%EF%BC%8E:x", .ambiguous(.dots)), ("/%E2%80%A5%EF%BC%9Fx", .ambiguous(.confusable)),
      ("/%EF%BC%85%EF%BC%92%EF%BC%A5", .ambiguous(.nestedEncoding)),
      ("/%E4%BB%80%E4%B9%88%EF%BC%88x%EF%BC%89", .canonical), ("/%E4%BB%80%E4%B9%88%EF%BC%9F", .canonical),
      ("/a%C2%A0b", .canonical), ("/%EF%BD%81%ff", .ambiguous(.malformedUTF8)),
    ] as [(String, PathClassification)])
  func judgement(path: String, judgement: PathClassification) {
    let found = PathClassification.classify(Array(path.utf8).span)
    #expect(found == judgement)
  }

  @Test(
    "A path that normalizes to one below a denied route is denied",
    arguments: [
      "/%EF%BD%81dmin", "/%EF%BC%A1DMIN/x", "/%F0%9D%93%AAdmin", "/%E2%92%B6dmin", "/admin%EF%BC%9Bx",
      "/admin%EF%BC%9Fx",
      "/admin%EF%BC%83", "/admin%C2%A0", "/admin%E3%80%80/x", "/admin%EF%BC%9A:$DATA",
      "/o%EF%AC%83ce/x", "/O%EF%AC%83CE",
    ])
  func denied(path: String) throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/", access: .public), RouteSettings(path: "/admin", access: .deny),
      RouteSettings(path: "/office/", access: .deny),
    ])
    let bytes = Array(path.utf8)
    let decision = table.match(bytes.span, .classify(bytes.span))
    #expect(decision.access == .deny)
  }
}
