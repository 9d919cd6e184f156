import Foundation
import TemporaryDirectoryTesting
import Testing

// Templates of the operator's own, in the real process.
//
// - In Chromium: a layout, a sign-in page and a stylesheet of one's own; signing in and out goes through them, and the
//   security policy is as strict as before.
// - `cordon check` tells every mistake with its place; `cordon run` refuses it too.
// - A reload takes what changed in the folder; a mistake there keeps what holds.

@SystemActor
@Suite("Templates of the operator's own, in the real process")
struct OwnTemplateSystemTests {
  private static let layout = """
    <!doctype html>
    <html lang="{{language}}" dir="{{direction}}">
    <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>{{title}}</title>
      {{style}}
    </head>
    <body>
      <header class="orchard">Orchard &amp; Sons</header>
      <main>{{$content}}{{/content}}</main>
      {{#requestID}}<footer>{{requestIDLabel}} <code>{{requestID}}</code></footer>{{/requestID}}
      {{script}}
    </body>
    </html>

    """
  private static let signIn = """
    {{<layout}}{{$content}}
    <h1>{{heading}}</h1>
    {{! Whoever has no Apple Account is helped elsewhere. }}
    {{button}}
    <p><a href="https://example.com/help">Help</a></p>
    {{/content}}{{/layout}}
    """
  private static let style = """
    body { margin: 0; font: 1.1rem/1.5 Georgia, serif; background: #fbf7ef; color: #222 }
    .orchard { padding: 1rem 2rem; background: #2f5d3a; color: white }
    main { padding: 2rem; max-width: 34rem }
    """

  /// Writes the files of `pages/`, and names them in the configuration.
  private func write(_ files: [(String, String)], _ directory: String) throws {
    let folder = URL(fileURLWithPath: directory).appending(path: "pages")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
  }

  private static var files: [(String, String)] {
    [("layout.mustache", layout), ("sign-in.mustache", signIn), ("style.css", style)]
  }

  private func site(_ files: [(String, String)] = Self.files) throws -> (Site, TemporaryDirectory) {
    let folder = try TemporaryDirectory()
    try write(files, folder.path)
    let site = try Site(adjust: {
      $0["pages", "templates"] = "\"\(folder.path)/pages\""
      $0["pages", "application_name"] = "\"<Orchard>\""
    })
    return (site, folder)
  }

  @Test("Somebody signs in and out in Chromium through pages of the operator's own, under the same strict policy")
  func browser() throws {
    let (site, folder) = try site()
    defer { withExtendedLifetime(folder) { site.stop() } }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open("\(site.origin)/wanted")
    #expect(try browser.text(of: "h1") == "Sign in to <Orchard>")
    #expect(try browser.text(of: "header") == "Orchard & Sons")
    let colour = "return getComputedStyle(document.querySelector('header')).backgroundColor"
    #expect(try browser.script(colour) as? String == "rgb(47, 93, 58)", "the stylesheet is let through by the policy")
    try browser.screenshots("13-own-sign-in")
    // What a page could not hold is not let through by the policy either.
    let inline = """
      const p = document.createElement('p'); p.setAttribute('style', 'color: red'); document.body.append(p);
      const s = document.createElement('script'); s.textContent = 'window.evil = 1'; document.body.append(s);
      return [getComputedStyle(p).color, String(window.evil)]
      """
    #expect(try browser.script(inline) as? [String] == ["rgb(34, 34, 34)", "undefined"])
    try browser.click("a[href*='/.auth/authorize']")
    try browser.click("#user-anna")
    try browser.click("button[value=continue]")
    try browser.waitForAddress("the application") { $0 == "\(site.origin)/wanted" }
    try browser.open(site.own("sign-out"))
    #expect(try browser.text(of: "header") == "Orchard & Sons")
    try browser.screenshots("13-own-sign-out")
    try browser.click("form button")
    try browser.waitForText("You are signed out")
    try browser.open(site.own("nowhere"))
    #expect(try browser.exists("footer code"))
    try browser.screenshots("13-own-failure")
    let answer = try site.gateway.client.get("/.auth/sign-in", fields: [("Accept", "text/html")])
    let policy = try #require(answer.fields["Content-Security-Policy"])
    #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
    #expect(policy.contains("script-src 'nonce-"), "for the page's own script only")
    #expect(answer.text.contains("Sign in to &lt;Orchard&gt;"))
  }

  @Test("check tells every mistake with its place and the remedy, and run refuses the same")
  func mistakes() throws {
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:3000")
    configuration["pages", "templates"] = "\"pages\""
    try write(
      [
        ("signin.mustache", "x"), ("layout.mustache", Self.layout.replacing("{{script}}", with: "")),
        ("sign-out.mustache", "{{<layout}}{{$content}}\n<h1>{{headding}}</h1>\n{{/content}}{{/layout}}"),
        ("failure.mustache", "{{<layout}}{{$content}}{{#advice}}{{/content}}{{/layout}}"),
      ], directory.path)
    let file = try configuration.install(in: directory)
    for command in ["check", "run"] {
      let result = try ServerProcess.run(
        Machine.binary("cordon"), [command, "--config", file], directory: directory.path)
      let text = result.standardOutput + result.standardError
      #expect(result.exit == .code(78), "\(text)")
      for part in [
        "pages/signin.mustache is not a template of the gateway; did you mean sign-in.mustache?",
        "pages/layout.mustache: {{script}} is missing",
        "pages/sign-out.mustache:2:5: there is no value headding; there are action, application,",
        "pages/failure.mustache:1:35: {{/content}} ends what was not begun last",
      ] { #expect(text.contains(part), "\(part) in \(text)") }
    }
    try FileManager.default.removeItem(atPath: "\(directory.path)/pages")
    try write(Self.files, directory.path)
    let good = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    #expect(good.exit == .code(0))
  }

  @Test("A reload takes changed templates; a mistake in one keeps what holds, and the log says where it is")
  func reload() throws {
    let (site, folder) = try site()
    defer { withExtendedLifetime(folder) { site.stop() } }
    func heading() throws -> String {
      try site.gateway.client.get("/.auth/sign-in", fields: [("Accept", "text/html")]).text
    }
    try write([("sign-in.mustache", Self.signIn.replacing("<h1>", with: "<h1 class=\"new\">"))], folder.path)
    site.gateway.process.signal(SIGHUP)
    try poll("the new template") { try heading().contains("<h1 class=\"new\">") ? () : nil }
    try write([("sign-in.mustache", "{{<layout}}{{$content}}<script>{{/content}}{{/layout}}")], folder.path)
    site.gateway.process.signal(SIGHUP)
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains("sign-in.mustache:1:31: <script> is not allowed by the page's policy"), "\(line)")
    #expect(try heading().contains("<h1 class=\"new\">"))
  }
}
