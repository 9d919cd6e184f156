import Foundation
import RandomTesting
import Testing

@testable import WebFormats

@Suite("Normalization form C")
struct CanonicalCompositionTests {
  /// Whether our form is Foundation's, as scalars: `==` compares canonically equivalent strings as equal.
  private func agrees(_ text: String) -> Bool {
    text.canonicallyComposed.unicodeScalars.elementsEqual(text.precomposedStringWithCanonicalMapping.unicodeScalars)
  }

  private static func scalars(_ values: ClosedRange<UInt32>) -> [Unicode.Scalar] {
    values.compactMap(Unicode.Scalar.init)
  }

  /// Every assigned scalar, and those in their midst that are not.
  private static let all = scalars(0...0x10_FFFF).filter { $0.properties.generalCategory != .unassigned }

  /// Combining marks that Foundation knows, too: its tables are those of Unicode 14.
  private static let marks = all.filter {
    $0.properties.canonicalCombiningClass != .notReordered && ($0.properties.age?.major ?? .max) <= 14
  }

  @Test("Every scalar, alone and decomposed, is composed as Foundation composes it")
  func everyScalar() {
    var decomposable = 0
    for scalar in Self.all where scalar.properties.generalCategory != .privateUse {
      let text = String(Character(scalar))
      let decomposed = text.decomposedStringWithCanonicalMapping
      guard !decomposed.unicodeScalars.elementsEqual(text.unicodeScalars) || scalar.value < 0x3000 else { continue }
      decomposable += decomposed.unicodeScalars.count > 1 ? 1 : 0
      #expect(agrees(text) && agrees(decomposed), "U+\(String(scalar.value, radix: 16))")
    }
    #expect(decomposable > 12_000, "Hangul alone has 11,172")
  }

  @Test("Hangul is composed from its letters, two and three of them, and not from others")
  func hangul() {
    for (lead, vowel) in [(0x1100, 0x1161), (0x1112, 0x1175), (0x1105, 0x116A)] as [(UInt32, UInt32)] {
      for tail in Self.scalars(0x11A8...0x11C2) {
        var text = String.UnicodeScalarView()
        for value in [lead, vowel] { text.append(contentsOf: Unicode.Scalar(value).map { [$0] } ?? []) }
        text.append(tail)
        #expect(agrees(String(text)))
      }
    }
    #expect("\u{1112}\u{1161}\u{11AB}".canonicallyComposed.unicodeScalars.elementsEqual("\u{D55C}".unicodeScalars))
    for text in ["\u{1100}\u{1100}\u{1161}", "\u{1161}\u{11A8}", "\u{1100}\u{11A8}"] {
      #expect(agrees(text), "\(text.unicodeScalars.map(\.value))")
    }
    // Foundation deviates from the standard here: a final letter after a syllable, scalars beside the final letters,
    // and a second final letter.
    #expect("\u{AC00}\u{11A8}".canonicallyComposed.unicodeScalars.elementsEqual("\u{AC01}".unicodeScalars))
    for text in ["\u{AC00}\u{11A7}", "\u{AC00}\u{11C3}", "\u{AC01}\u{11A8}"] {
      #expect(text.canonicallyComposed.unicodeScalars.elementsEqual(text.unicodeScalars))
    }
  }

  @Test("Sequences of combining marks are ordered and composed as Foundation does it")
  func marks() {
    #expect(Self.marks.count > 800)
    var generator = SeededNumbers(seed: 0x5EED)
    let bases = Array("aAeoOuUsSzZnc ΑΩαωкиカハกกʼ가\u{1100}".unicodeScalars)
    for _ in 0..<50_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        if let base = bases.randomElement(using: &generator) { text.append(base) }
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
          // The marks of Latin script meet more often than by chance.
          let latin = Unicode.Scalar(UInt32.random(in: 0x300...0x345, using: &generator))
          let mark = Bool.random(using: &generator) ? latin : Self.marks.randomElement(using: &generator)
          if let mark { text.append(mark) }
        }
      }
      #expect(agrees(String(text)), "\(text.map { String($0.value, radix: 16) })")
    }
  }

  @Test("Empty text, marks alone and scalars that are excluded from composition")
  func edges() {
    let excluded = ["\u{0958}", "\u{FB1D}", "\u{2ADC}", "\u{1D15E}", "\u{212B}", "\u{37E}"]
    for text in ["", "\u{301}", "\u{301}\u{327}"] + excluded {
      #expect(agrees(text), "\(text.unicodeScalars.map(\.value))")
    }
    #expect("e\u{301}".canonicallyComposed.unicodeScalars.elementsEqual("\u{E9}".unicodeScalars))
  }
}
