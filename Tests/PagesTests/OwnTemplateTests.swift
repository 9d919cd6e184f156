import Testing

@testable import Pages

@Suite("Templates of the operator's own")
struct OwnTemplateTests {
  private static let layout = """
    <!doctype html>
    <html lang="{{language}}" dir="{{direction}}"><head><title>{{title}}</title>{{style}}</head>
    <body class="orchard"><header>Orchard {{! not shown }}</header><main>{{$content}}{{/content}}</main>
    {{#requestID}}<p>{{requestIDLabel}} {{requestID}}</p>{{/requestID}}{{script}}</body></html>
    """

  private func own(_ files: [(String, String)]) throws(TemplateError) -> OwnTemplates {
    try OwnTemplates(files: files.map { ($0.0, Array($0.1.utf8)) })
  }

  private func complaints(_ file: String, _ text: String) -> [String] {
    do throws(TemplateError) {
      _ = try own([(file, text)])
      return []
    } catch {
      return error.problems.map {
        "\($0.place.map { "\($0.line):\($0.column): " } ?? "")\($0.problem)"
      }
    }
  }

  @Test("The gateway's own templates keep the rules that others are held to", arguments: PageTemplates.Name.allCases)
  func standard(name: PageTemplates.Name) {
    #expect(complaints(OwnTemplates.fileName(name), StandardTemplates.source(name)) == [])
  }

  @Test("The operator's templates replace ours by their names; the rest stays")
  func replace() throws {
    var settings = PageSettings()
    settings.applicationName = "Orchard & Sons"
    settings.templates = try own([
      ("layout.mustache", Self.layout), ("style.css", "body { color: teal } /* é */"),
      (
        "sign-in.mustache",
        """
        {{<layout}}{{$content}}<h2 title='{{heading}}'>{{{application}}}</h2><a href="{{authorize}}">in</a>{{button}}\
        {{/content}}{{/layout}}
        """
      ),
    ])
    let renderer = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    let page = renderer.signIn(returnTo: "/a?b&c")
    let html = String(decoding: page.body, as: UTF8.self)
    #expect(html.contains("<h2 title='Sign in to Orchard &amp; Sons'>Orchard &amp; Sons</h2>"))
    #expect(html.contains("<a href=\"/.auth/authorize?return_to=/a%3Fb%26c\">in</a>"))
    #expect(html.contains("<body class=\"orchard\"><header>Orchard </header>"))
    #expect(!html.contains("{{") && !html.contains("not shown"))
    // The style is the operator's, with what Apple's button needs, marked with the nonce of the policy.
    let nonce = try #require(page.contentSecurityPolicy.firstMatch(of: /style-src 'nonce-([0-9a-f]{32})'/)?.1)
    #expect(html.contains("<style nonce=\"\(nonce)\">"))
    #expect(html.contains("body { color: teal } /* é */"))
    #expect(html.contains("--apple-width:320px") && !html.contains(".card"))
    let failure = String(decoding: renderer.failure(.notFound, requestID: "r-1").body, as: UTF8.self)
    #expect(failure.contains("class=\"orchard\"") && failure.contains("Request r-1</p>"))
    #expect(failure.contains("role=\"alert\""), "the page within the layout is ours")
  }

  @Test("The page that leads on by itself has its script, of the nonce, in a layout of the operator's own")
  func script() throws {
    var settings = PageSettings()
    settings.templates = try own([("layout.mustache", Self.layout)])
    let renderer = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    for page in [renderer.callbackRepost(fields: [("state", "s")]), renderer.callbackFragment(field: ("again", "1"))] {
      let html = String(decoding: page.body, as: UTF8.self)
      let nonce = try #require(page.contentSecurityPolicy.firstMatch(of: /script-src 'nonce-([0-9a-f]{32})'/)?.1)
      #expect(count("<script nonce=\"\(nonce)\">", in: html) == 1)
    }
    #expect(!String(decoding: renderer.signedOut().body, as: UTF8.self).contains("<script"))
  }

  @Test(
    "No name changes the structure of a page, whatever braces its values stand in",
    arguments: ["<script>", "\"'><x", "\"\u{301}onfocus=x", "{{{host}}}", "{{/content}}", "\u{202E}x"])
  func escaped(hostile: String) throws {
    var settings = PageSettings()
    settings.applicationName = hostile
    settings.templates = try own([
      (
        "sign-out.mustache",
        """
        <!doctype html><title>{{title}}</title>{{&style}}<p title="{{user}}">{{user}}{{{user}}}{{& user }}</p>
        <form method=post action='{{action}}'>{{fields}}<button>{{application}}</button></form>
        """
      )
    ])
    let renderer = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    let html = String(decoding: renderer.signOutQuestion(user: hostile, returnTo: "/").body, as: UTF8.self)
    let body = html.split(separator: "</style>", maxSplits: 1).last ?? ""
    #expect(
      body.matches(of: /<[^>]+>/).map { String($0.output.prefix(6)) }
        == ["<p tit", "</p>", "<form ", "<input", "<butto", "</butt", "</form"].map { String($0.prefix(6)) })
    #expect(!body.contains("{{{host}}}") == (hostile != "{{{host}}}"), "a value is not a template")
  }

  @Test(
    "A template without a required variable is refused",
    arguments: [
      ("layout.mustache", "<!doctype html><title>x</title>{{$content}}{{/content}}{{script}}", "{{style}} is missing"),
      ("layout.mustache", "<!doctype html>{{style}}{{$content}}{{/content}}", "{{script}} is missing"),
      ("layout.mustache", "<!doctype html>{{style}}{{script}}", "there is no {{$content}}"),
      ("layout.mustache", "<p>{{style}}{{script}}{{$content}}{{/content}}", "does not begin with <!doctype html>"),
      ("sign-in.mustache", "{{<layout}}{{$content}}<h1>x</h1>{{/content}}{{/layout}}", "{{button}} or {{authorize}}"),
      ("sign-in.mustache", "{{<layout}}{{$content}}{{#host}}{{button}}{{/host}}{{/content}}{{/layout}}", "is missing"),
      ("sign-in.mustache", "<!doctype html>{{button}}", "{{style}} is missing"),
      ("sign-in.mustache", "<p>{{button}}{{style}}", "does not begin with <!doctype html>"),
      ("sign-out.mustache", "{{<layout}}{{$content}}<p>x</p>{{/content}}{{/layout}}", "{{action}} is missing"),
      (
        "sign-out.mustache",
        "{{<layout}}{{$content}}<form action=\"{{action}}\">{{fields}}<button>x</button></form>{{/content}}{{/layout}}",
        "does not post"
      ),
      (
        "repost.mustache",
        """
        {{<layout}}{{$content}}<form method="POST" action="{{action}}"><button>x</button></form>{{/content}}{{/layout}}
        """,
        "{{fields}} is missing"
      ),
      (
        "repost.mustache",
        "{{<layout}}{{$content}}<form method=\"POST\" action=\"{{action}}\">{{fields}}</form>{{/content}}{{/layout}}",
        "no button"
      ),
      (
        "fragment.mustache",
        "<!doctype html>{{style}}<form method=\"POST\" action=\"{{action}}\">{{fields}}<button>x</button></form>",
        "{{script}} is missing"
      ),
    ])
  func requirements(file: String, text: String, problem: String) {
    #expect(complaints(file, text).contains { $0.contains(problem) }, "\(complaints(file, text))")
  }

  @Test(
    "A template element that is unknown, out of place or forbidden by the policy is refused, with its place",
    arguments: [
      ("<h1>{{headding}}</h1>", "1:28: there is no value headding"),
      ("\n <p>{{signInLabel}}", "2:5: there is no value signInLabel"),
      ("{{#nobody}}x{{/nobody}}", "1:24: there is no value nobody"),
      ("{{>footer}}", "1:24: {{>…}} puts another file in, and there are none"),
      ("{{=<% %>=}}", "1:24: a tag that is not known here"),
      ("{{% CONTENT_TYPE:TEXT}}", "1:24: a tag that is not known here"),
      ("{{heading.x}}", "1:24: a tag without a name"), ("{{upper(heading)}}", "1:24: a tag without a name"),
      ("{{.}}", "1:24: a tag without a name"), ("{{heading", "1:24: a tag without a name"),
      ("{{#advice}}{{/heading}}", "1:35: {{/heading}} ends what was not begun last"),
      ("<p {{#heading}}>{{/heading}}", "1:27: heading begins and ends at different places of the markup"),
      ("<p {{heading}}>", "1:27: {{heading}} stands within a tag or a comment, outside quotation marks"),
      ("<p title={{heading}}>", "1:33: {{heading}} stands within a tag or a comment, outside quotation marks"),
      ("<!-- {{heading}} -->", "1:29: {{heading}} stands within a tag or a comment, outside quotation marks"),
      ("<a href=\"{{heading}}\">x</a>", "1:33: {{heading}} stands in an address"),
      ("<a href=\"https://x/{{authorize}}\">x</a>", "1:43: {{authorize}} stands in an address"),
      ("<p title=\"{{button}}\">", "1:34: {{button}} is markup, and stands in an attribute"),
      ("<p>{{authorize}}</p>", "1:27: {{authorize}} is an address"),
      ("<SCRIPT src=x></script>", "1:31: <script> is not allowed by the page's policy"),
      ("<style>x</style>", "1:30: <style> is not allowed by the page's policy"),
      ("<p style=\"x\">", "1:35: style=\"…\" is not allowed by the page's policy"),
      ("<p OnClick='x'>", "1:37: onclick=\"…\" is a script, which the page's policy does not allow"),
      ("<img src=\"https://cdn.example/x.png\">", "1:59: src of another origin is not allowed by the page's policy"),
      ("<img src=//x>", "1:36: src of another origin is not allowed by the page's policy"),
      ("<a href='JavaScript:x'>", "1:45: a script as an address"),
      ("<form>", "1:29: a form, on a page that has none"),
      ("{{$footer}}{{/footer}}", "1:24: {{$footer}} cannot stand here"),
      ("<p title=\"", "1:12: content begins and ends at different places of the markup"),
    ])
  func refused(content: String, complaint: String) {
    let all = complaints("sign-in.mustache", "{{<layout}}{{$content}}\(content){{button}}{{/content}}{{/layout}}")
    #expect(all.contains(complaint), "\(all)")
  }

  @Test(
    "Links elsewhere, pictures of this origin and sections within an attribute are in order",
    arguments: [
      "<a href=\"https://example.com/help\">x</a>", "<img src=\"/public/logo.svg\" alt=\"\">",
      "<img src='data:image/png;base64,x'>", "<p class=\"a{{#requestID}} b{{/requestID}}\">",
      "{{^requestID}}<hr>{{/requestID}}", "a < b, a {x} }", "<br/><p\nlang=\"{{ language }}\">",
    ])
  func accepted(content: String) {
    let text = "{{<layout}}\n{{$content}}\(content){{button}}{{/content}}\n{{/layout}}\n"
    #expect(complaints("sign-in.mustache", text) == [])
  }

  @Test("Files that are not templates are refused")
  func noTemplates() throws {
    let big = "<!doctype html>{{style}}{{button}}" + String(repeating: "x", count: 65_536)
    #expect(complaints("sign-in.mustache", big) == ["more than 64 KiB"])
    #expect(complaints("sign-in.mustache", "\u{0}") == ["holds control characters"])
    #expect(complaints("signin.mustache", "x") == ["there is no page of this name"])
    #expect(throws: TemplateError.self) { try OwnTemplates(files: [("sign-in.mustache", [0xFF])]) }
    #expect(complaints("sign-in.mustache", "").first == "it does not begin with <!doctype html>")
  }

  @Test("A brace with a combining mark is a brace: what a template is made of are bytes")
  func combiningMarks() throws {
    let text = "<!doctype html>{{style}}{{button}}\u{301}<p>{\u{301}{host}}|{{host}}\u{338}|{\u{FE0F}</p>"
    #expect(complaints("sign-in.mustache", text) == [])
    #expect(complaints("sign-in.mustache", text + "{{host}\u{301}}") == ["1:70: a tag that is not closed"])
    var settings = PageSettings()
    settings.templates = try own([("sign-in.mustache", text)])
    let page = PageRenderer(settings: settings, host: "<h>", prefix: "/.auth").signIn()
    let end = "\u{301}<p>{\u{301}{host}}|&lt;h&gt;\u{338}|{\u{FE0F}</p>"
    #expect(page.body.suffix(end.utf8.count).elementsEqual(end.utf8))
  }

  @Test(
    "A stylesheet stays within its element and loads nothing from elsewhere",
    arguments: [
      ("a{}\n b{}</STYLE>", "2:5: </ stands in it: it would end the page's style"),
      ("@IMPORT 'x';", "1:1: @import stands in it: the page's policy lets nothing be loaded"),
      ("a{b:url(https://x/y)}", "1:9: https: stands in it: the page's policy lets nothing be loaded from elsewhere"),
      ("@font-face{}", "1:1: @font-face stands in it: the page's policy lets no font be loaded"),
      ("a{b:url(\\68ttps\\3A/y)}", "1:9: https: stands in it: the page's policy lets nothing be loaded from elsewhere"),
    ])
  func stylesheet(text: String, complaint: String) {
    #expect(complaints("style.css", text) == [complaint])
  }

  @Test(
    "An address of a host without a scheme is refused in a stylesheet as one with a scheme is",
    arguments: [
      ("a{b:url(//x/y)}", 9), ("a{b:URL( '//x/y')}", 11), ("a{b:url(\"/\\2f x/y\")}", 10), ("a{b:\\75rl(\\//x)}", 11),
      ("a{b:url('\\\\\\\\x/y')}", 10), ("a{b:src(\"//x\")}", 10),
      ("a{b:image-set(\"/y\" 1x, \"//x/y\" 2x)}", 25),
    ])
  func hostWithoutScheme(text: String, column: Int) {
    let complaint = "1:\(column): // stands in it: the page's policy lets nothing be loaded from elsewhere"
    #expect(complaints("style.css", text) == [complaint], "\(text)")
  }

  @Test("Two slashes that are no address of a host are allowed in a stylesheet")
  func slashes() {
    let text = "a{content:'// x';b:url(/y//z)} /* // */ c{d:url('/\\65 x')}"
    #expect(complaints("style.css", text) == [])
  }

  @Test("The templates and what each can show are as recorded")
  func recordedNames() {
    let everywhere = "application direction host icon language mark requestID requestIDLabel script style title"
    let recorded = [
      "layout": "",
      "sign-in": "authorize button explanation heading",
      "sign-out": "action explanation fields heading signOutButton signedInAs stay stayLabel user",
      "signed-out": "explanation heading signIn signInLabel",
      "failure": "action advice explanation failure fields heading otherWay otherWayLabel requestCode requestCodeLabel "
        + "requestCodeSpelled requestExplanation requestLabel request_access signedInAs status user way wayLabel",
      "repost": "action continueLabel explanation fields heading",
      "fragment": "action again againLabel continueLabel explanation fields heading scriptNeeded",
      "account":
        "emailLabel email emailNote endOthers groups groupsLabel heading moreSessions name nameLabel notice sessions "
        + "sessionsHeading signOut signOutLabel stop stopLabel",
      "question": "action advice confirmButton explanation fields heading stay stayLabel",
      "notice": "advice explanation heading way wayLabel",
    ]
    for name in PageTemplates.Name.allCases {
      let names = Set(TemplateRules(name).values.keys)
      let expected = "\(everywhere) \(recorded[name.rawValue] ?? "not recorded")".split(separator: " ").map(String.init)
      #expect(names == Set(expected), "\(name.rawValue)")
    }
    #expect(PageTemplates.Name.allCases.count == recorded.count)
  }
}
