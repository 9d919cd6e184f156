import Foundation
import Testing

@testable import AccessPolicy

@Suite("Compatibility letters")
struct CompatibilityLetterTests {
  @Test("The table says what normalisation to NFKC says, of every character")
  func normalisation() {
    var differences: [String] = []
    for value in UInt32(0x80)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var letters = CompatibilityLetters.ascii(of: value)
      var bytes: [UInt8] = []
      while letters != 0 {
        bytes.append(UInt8(truncatingIfNeeded: letters))
        letters >>= 8
      }
      let normalised = Array(String(scalar).precomposedStringWithCompatibilityMapping.utf8)
      let isASCII = normalised.allSatisfy { $0 < 0x80 }
      // The outlined letters of Unicode 16 may be younger than the library.
      if isASCII ? bytes != normalised : !bytes.isEmpty && !(0x1CCD6...0x1CCF9).contains(value) {
        differences.append("U+\(String(value, radix: 16)): \(bytes), not \(normalised)")
      }
    }
    #expect(differences.isEmpty, "\(differences.prefix(10))")
  }

  @Test(
    "Letters and digits make a path ambiguous, dots and separators could be anywhere, signs in titles are canonical",
    arguments: [
      ("/%EF%BD%81dmin", .ambiguous(.compatibilityLetter)), ("/%EF%BC%91", .ambiguous(.compatibilityLetter)),
      ("/%F0%9D%93%AAdmin", .ambiguous(.compatibilityLetter)), ("/o%EF%AC%80ice", .ambiguous(.compatibilityLetter)),
      ("/%EF%BC%8E", .ambiguous(.confusable)), ("/a%EF%BC%8Fb", .ambiguous(.confusable)),
      ("/a%E2%84%80b", .ambiguous(.confusable)), ("/%EF%BC%852e", .ambiguous(.confusable)),
      ("/..%EF%BC%9B/admin", .ambiguous(.confusable)), ("/..%C2%A0/admin", .ambiguous(.dots)),
      ("/..%EF%BC%9F", .ambiguous(.confusable)), ("/%25%EF%BC%92e", .ambiguous(.doubleEncoding)),
      ("/%E4%BB%80%E4%B9%88%EF%BC%88x%EF%BC%89", .canonical), ("/%E4%BB%80%E4%B9%88%EF%BC%9F", .canonical),
      ("/a%C2%A0b", .canonical), ("/%EF%BD%81%ff", .ambiguous(.malformedUTF8)),
    ] as [(String, PathClassification)])
  func judgement(path: String, judgement: PathClassification) {
    let found = PathClassification.classify(Array(path.utf8).span)
    #expect(found == judgement)
  }

  @Test(
    "A path that normalises to one below a denied route is denied",
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
