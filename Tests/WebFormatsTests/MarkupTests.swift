import Testing
import WebFormats

@Suite("Markup")
struct MarkupTests {
  private static let directions = [
    "\u{200E}", "\u{200F}", "\u{061C}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}",
    "\u{2067}", "\u{2068}", "\u{2069}",
  ]

  @Test("Characters that mean something in HTML are escaped in each way from text to markup")
  func references() {
    let text = "<a href=\"x\" id='y'>&amp;\"\u{301}ü"
    let escaped = "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&quot;\u{301}ü"
    let interpolated: Markup = "<b>\(text)</b>\(7)\(Markup(trusted: "<br>"))"
    for markup in [Markup(escaping: text), Markup(exactly: text), Markup(escapingOwn: text)] {
      #expect(Array(markup.html.utf8) == Array(escaped.utf8))
    }
    #expect(Array(interpolated.html.utf8) == Array("<b>\(escaped)</b>7<br>".utf8))
  }

  @Test("Control characters other than tab and newline are replaced")
  func controls() {
    for value in [UInt32](0..<0x20) + [UInt32](0x7F..<0xA0) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let expected = value == 0x09 || value == 0x0A ? String(scalar) : "\u{FFFD}"
      for markup in [Markup(escaping: "a\(scalar)b"), Markup(escapingOwn: "a\(scalar)b")] {
        #expect(Array(markup.html.utf8) == Array("a\(expected)b".utf8), "U+\(value)")
      }
    }
  }

  @Test("Foreign text loses its directional controls, and nothing else that cannot be seen")
  func directionalControls() {
    for control in Self.directions {
      #expect(Markup(escaping: "a\(control)b").html == "ab")
      #expect(Markup.withoutDirections("a\(control)b") == "ab")
      #expect(Markup(escapingOwn: "a\(control)b").html.unicodeScalars.count == 3)
    }
    for other in ["\u{200D}", "\u{2029}", "\u{202F}", "\u{2065}", "\u{206A}", "\u{061B}"] {
      #expect(Markup(escaping: "a\(other)b").html.unicodeScalars.count == 3)
    }
  }

  @Test("A value that a form submits is written so that a browser reads exactly it, but for NUL")
  func exactly() {
    #expect(Markup(exactly: "a\r\n\tb\u{1}").html.utf8.elementsEqual("a&#13;\n\tb\u{1}".utf8))
    #expect(Markup(exactly: "a\0b").html == "a\u{FFFD}b")
    for control in Self.directions {
      let number = control.unicodeScalars.map(\.value).reduce(0, +)
      #expect(Markup(exactly: "a\(control)b").html == "a&#\(number);b")
    }
  }
}
