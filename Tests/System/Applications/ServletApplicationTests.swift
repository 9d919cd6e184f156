import Foundation
import Testing

// Tomcat, as it stands in examples/tomcat: its users and roles from headers, its redirects and its sessions.

@SystemActor
@Suite("Tomcat")
struct ServletApplicationTests {
  @Test("Tomcat's applications know user, roles and scheme, below their own path and below one that is removed")
  func users() throws {
    let example = try Example("tomcat", scheme: "https")
    defer { example.stop() }
    try example.startApplication()
    // TLS ends before the gateway here.
    try example.startGateway()
    let (visitor, page) = try example.signedIn(as: "anna", at: "/club/")
    let anna = "anna.bergstrom@example.com"
    #expect(page.text.contains("You are \(anna), and this session is of \(anna)."), "\(page.text)")
    #expect(page.text.contains("The address is \(example.origin)/club/, secure: true."), "\(page.text)")
    #expect(try visitor.open(example.origin + "/club/staff/").text.contains("Keys of the shed, for \(anna)"))

    // Redirects: Tomcat's own for a folder, a relative one and an absolute one, which gets the prefix back.
    for (path, end) in [
      ("/club", "/club/"), ("/club/start.jsp", "/club/index.jsp"), ("/minutes/start.jsp", "/minutes/index.jsp"),
    ] {
      let led = try visitor.open(example.origin + path)
      #expect(led.address.description == example.origin + end && led.status == 200, "\(path): \(led.address)")
    }
    #expect(Set(visitor.jar.cookies.filter { $0.name == "JSESSIONID" }.map(\.path)) == ["/club", "/minutes"])
    // Tomcat's own / is reached below /minutes only.
    #expect(try visitor.open(example.origin + "/start.jsp").status == 403)
    // An application that was not made for this: Tomcat's examples.
    let snoop = try visitor.open(example.origin + "/examples/jsp/snp/snoop.jsp?a=1&b=%26")
    #expect(snoop.text.contains("Remote user: \(anna)") && snoop.text.contains("a=1&amp;b=%26"), "\(snoop.text)")

    // Ben is not of the staff, whatever he says.
    let (ben, _) = try example.signedIn(as: "ben", at: "/club/")
    for forged in [("Remote-User", anna), ("Remote_User", anna), ("Remote-Groups", "staff"), ("X", "y")] {
      let refused = try ben.fetch(example.origin + "/club/staff/", fields: [forged])
      #expect(refused.status == 403 && !refused.text.contains("Keys"), "\(forged): \(refused)")
      let page = try ben.fetch(example.origin + "/club/", fields: [forged])
      #expect(page.text.contains("You are ben@example.org, and this session is of ben@example.org."), "\(page.text)")
    }
    // Anna's session in his hands, as a cookie and in the path.
    for cookie in visitor.jar.cookies where cookie.name == "JSESSIONID" { ben.jar.set(cookie) }
    #expect(try ben.open(example.origin + "/club/").text.contains("this session is of ben@example.org."))
    let session = try #require(visitor.jar.cookies.first { $0.name == "JSESSIONID" && $0.path == "/club" }?.value)
    let identifier = session.prefix { $0 != "." }
    let inPath = try example.signedIn(as: "ben", at: "/club/index.jsp;jsessionid=\(identifier)").page
    #expect(!inPath.text.contains(anna), "\(inPath.text)")
  }

  @Test("The application's own \"Log out\" ends its session, its WebSockets and the sign-in in a real browser")
  func logOut() throws {
    let example = try Example("tomcat")
    defer { example.stop() }
    try example.startApplication()
    try example.startGateway()
    let browser = try Browser()
    defer { browser.quit() }
    func signIn(as user: String) throws {
      try browser.open(example.origin + "/club/")
      try browser.click("a[href*='/.auth/authorize']")
      try browser.click("#user-\(user)")
      try browser.click("#continue")
      try browser.waitForAddress("the application") { $0 == example.origin + "/club/" }
    }
    try signIn(as: "anna")
    try browser.waitForText("You are anna.bergstrom@example.com, and this session is of anna.bergstrom@example.com.")
    #expect(try sessions(browser) == ["/club"])
    // Tomcat's own echo, in another tab.
    let tabs = try browser.openTab()
    try browser.open(example.origin + "/examples/jsp/snp/snoop.jsp")
    try browser.script(
      """
      window.said = []; window.ended = null;
      window.socket = new WebSocket(location.origin.replace('http', 'ws') + '/examples/websocket/echoProgrammatic');
      window.socket.onmessage = event => window.said.push(event.data);
      window.socket.onopen = () => window.socket.send('Grüße');
      window.socket.onclose = event => { window.ended = event.code; };
      """)
    #expect(try sessions(browser) == ["/club", "/examples"])
    try poll("the echo") { try browser.script("return window.said.join()") as? String == "Grüße" ? () : nil }
    try browser.switchTo(tabs.old)
    try browser.click("a[href='logout.jsp']")
    try browser.waitForAddress("the question") { $0.hasPrefix(example.origin + "/") && !$0.hasSuffix("/club/") }
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    #expect(try sessions(browser) == [])
    try browser.open(example.origin + "/club/")
    #expect(try browser.address().hasPrefix(example.origin + "/.auth/sign-in"))
    try browser.switchTo(tabs.new)
    #expect(try poll("the WebSocket to end") { try browser.script("return window.ended") as? Int } == 1_008)

    try browser.switchTo(tabs.old)
    try signIn(as: "ben")
    try browser.waitForText("You are ben@example.org, and this session is of ben@example.org.")
  }

  /// The paths of Tomcat's session cookies in a browser.
  private func sessions(_ browser: Browser) throws -> Set<String> {
    let all = try browser.devTools("Network.getAllCookies") as? [String: Any]
    let cookies = try #require(all?["cookies"] as? [[String: Any]])
    return Set(cookies.filter { $0["name"] as? String == "JSESSIONID" }.compactMap { $0["path"] as? String })
  }
}
