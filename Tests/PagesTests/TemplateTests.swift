import RandomTesting
import Testing
import WebFormats

@testable import Pages

@Suite("Templates as they are rendered")
struct TemplateTests {
  private func render(_ page: String, in layout: String = "", _ values: [String: Markup] = [:]) -> String {
    let template = Template(standard: page).joined(to: Template(standard: layout))
    return String(decoding: template.render(values), as: UTF8.self)
  }

  @Test(
    "Values stand in any braces; sections depend on whether there is a value, even an empty one",
    arguments: [
      ("{{a}}|{{{a}}}|{{&a}}|{{ a }}", "1|1|1|1"), ("{{none}}|", "|"), ("{{#a}}x{{/a}}{{^a}}y{{/a}}", "x"),
      ("{{#none}}x{{/none}}{{^none}}y{{/none}}", "y"), ("{{#empty}}x{{empty}}{{/empty}}{{^empty}}y{{/empty}}", "x"),
      ("{{#a}}{{#none}}x{{/none}}{{^none}}{{#empty}}y{{/empty}}{{/none}}z{{/a}}", "yz"),
      ("{{#none}}{{#a}}x{{/a}}{{/none}}z", "z"), ("a {x} } {", "a {x} } {"), ("", ""),
      ("a{{! {{none}} }}b", "a }}b"),
    ])
  func values(template: String, expected: String) {
    #expect(render(template, ["a": "1", "empty": ""]) == expected)
  }

  @Test(
    "A tag that is alone on its line takes the line with it, and no other tag does",
    arguments: [
      ("|\n  {{#a}}  \n|\n{{/a}}\n|", "|\n|\n|"), ("|\r\n{{#a}}\r\n|\r\n{{/a}}\r\n|", "|\r\n|\r\n|"),
      ("|\n{{! comment }}\n|", "|\n|"), ("{{!a}}\n|\n  {{!b}}", "|\n"), ("| {{! comment }} |\n", "|  |\n"),
      ("  {{a}}\n|", "  1\n|"), ("{{#a}} {{/a}}\n|", " \n|"), ("{{#a}}{{^a}}\n{{/a}}{{/a}}|", "|"),
      ("{{#a}}\n{{/a}}\n|", "|"), ("{{#a}}\n\n{{/a}}\n|", "\n|"),
      // Where swift-mustache follows the first tag of a section, we look at the line, as the specification does.
      ("<p>{{#a}}x\n{{/a}}\n{{#a}}\ny\n{{/a}}\n</p>", "<p>x\ny\n</p>"),
      ("{{#a}}\nx{{/a}} {{! c }}\n|", "x \n|"), ("|\n{{#a}}\nx\n{{/a}}  ", "|\nx\n"),
      ("|\n{{#a}}\u{2028}x{{/a}}", "|\n\u{2028}x"),
    ])
  func lines(template: String, expected: String) {
    #expect(render(template, ["a": "1"]) == expected)
  }

  @Test(
    "The lines of a block get the indentation of its place instead of their own",
    arguments: [
      ("<main>{{$content}}{{/content}}</main>\n", "<main>one\n  two\n</main>\n"),
      ("Hi,\n  {{$content}}{{/content}}\n", "Hi,\n  one\n    two\n\n"),
      ("Hi,\n  {{$content}}\n  default {{a}}\n  {{/content}}\nbye", "Hi,\n  one\n    two\nbye"),
      ("Hi,\r\n  {{$content}}\r\n  {{/content}}\r\nbye", "Hi,\r\n  one\n    two\nbye"),
    ])
  func blocks(layout: String, expected: String) {
    let page = "{{<layout}}{{$content}}\n    one\n      two\n    {{/content}}{{/layout}}\n"
    #expect(render(page, in: layout) == expected)
    // With CR LF, too, where swift-mustache leaves the indentation out.
    let (carriage, line) = (Character("\r\n"), Character("\n"))
    func inDOS(_ text: String) -> String { String(text.map { $0 == line ? carriage : $0 }) }
    #expect(render(inDOS(page), in: inDOS(layout)) == inDOS(expected))
  }

  @Test("The first line of a block counts, also where it begins within a section")
  func firstLine() {
    let page = "{{<layout}}{{$content}}<p>{{#a}}\n    one\n      two{{/a}}</p>\n    three\n  {{/content}}{{/layout}}"
    #expect(render(page, in: "{{$content}}{{/content}}", ["a": ""]) == "<p>\none\n  two</p>\nthree\n")
  }

  @Test("A layout that is indented is indented in all of its lines, but not in those of values")
  func indentedLayout() {
    let page = "\n  {{<layout}}\n{{$content}}\n{{a}}{{none}}\n{{#a}}\nx\n{{/a}}\n{{/content}}{{/layout}}\n\nend"
    let layout = "<body>\n {{$content}}{{/content}}</body>\n"
    #expect(render(page, in: layout, ["a": "1\n2"]) == "\n  <body>\n   1\n2\n   x\n  </body>\n\nend")
  }

  @Test("20,000 nested sections are rendered, and freed, without recursion", arguments: [true, false])
  func depth(isThere: Bool) {
    let source = String(repeating: "{{#a}}", count: 20_000) + "x" + String(repeating: "{{/a}}", count: 20_000) + "y"
    #expect(render(source, isThere ? ["a": ""] : [:]) == (isThere ? "xy" : "y"))
    let open = String(repeating: "{{#a}}{{<layout}}{{$content}}", count: 5_000)
    #expect(render(open, in: open, ["a": ""]) == "")
  }

  @Test("An operator's file may be nested as deeply as 64 KiB allow; a larger one is refused")
  func depthOfFiles() throws {
    func file(_ count: Int) -> [UInt8] {
      let (open, close) = ("{{#host}}", "{{/host}}")
      let nested = String(repeating: open, count: count) + "deep" + String(repeating: close, count: count)
      return Array("<!doctype html>{{style}}{{button}}\(nested)".utf8)
    }
    var settings = PageSettings()
    settings.templates = try OwnTemplates(files: [("sign-in.mustache", file(3_600))])
    let page = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth").signIn()
    #expect(String(decoding: page.body, as: UTF8.self).hasSuffix("deep"))
    #expect(throws: TemplateError.self) { try OwnTemplates(files: [("sign-in.mustache", file(20_000))]) }
  }

  @Test("No sequence of tags traps, however little sense it makes", arguments: 0..<10)
  func nonsense(seed: Int) {
    var generator = SeededNumbers(seed: UInt64(seed))
    let parts = [
      "{{#a}}", "{{^a}}", "{{/a}}", "{{<layout}}", "{{/layout}}", "{{$content}}", "{{/content}}", "{{a}}", "{{!}}",
      "\n",
      " ", "\t", "\r\n", "x",
    ]
    for _ in 0..<2_000 {
      var sources = ["", ""]
      for index in sources.indices {
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
          sources[index] += parts.randomElement(using: &generator) ?? ""
        }
      }
      for values in [[:], ["a": "1\n" as Markup]] {
        #expect(!render(sources[0], in: sources[1], values).contains("{{#"))
      }
    }
  }
}
