import Foundation
import Testing

// Personal pages that Apache lets browsers cache, one person after another at one real browser.
//
// - By default the browser's cache is emptied at sign-out and when another account arrives (`session.clear_site_data`).
// - Without that, `private_cache` makes the browser ask again for whoever is signed in now.

@SystemActor
@Suite("The browser's cache between two people")
struct CacheApplicationTests {
  @Test(
    "Nobody sees the page that an application let the browser of the one before cache",
    arguments: ["", "clear_site_data = []"])
  func cache(setting: String) throws {
    // In cleartext: Chromium keeps nothing of a server whose certificate it does not know.
    let example = try Example("apache-remote-user")
    defer { example.stop() }
    try example.change("gateway.conf") {
      $0.replacing(
        "[upstream]\n", with: "[upstream]\n" + (setting.isEmpty ? "" : "private_cache = true\n"), maxReplacements: 1
      ).replacing("[session]\n", with: "[session]\n\(setting)\n").replacing("|local:example.com|lower}", with: "}")
    }
    try example.change("apache.conf") {
      $0 + "LoadModule expires_module /usr/lib/apache2/modules/mod_expires.so\n"
        + "ExpiresActive On\nExpiresDefault \"access plus 1 hour\"\n"
    }
    try example.change("cgi/hello") { $0 + "date +%s%N\n" }
    try example.share([], programs: ["cgi/hello"])
    try example.start(
      Machine.program("apache2", package: "apache2-bin"),
      ["-d", example.path, "-f", "apache.conf", "-D", "FOREGROUND"], listeningOn: 3_000)
    try example.startGateway()
    let browser = try Browser()
    defer { browser.quit() }
    let page = example.origin + "/hello"

    func signIn(as user: String) throws {
      try browser.click("#user-\(user)")
      try browser.click("#continue")
      try browser.waitForAddress("the application's page") { $0 == page }
    }
    /// Goes to the page as a link does, from another one, and answers what it says.
    func visit() throws -> String {
      try browser.open(example.origin + "/public/hello")
      try browser.waitForText("REMOTE_USER=")
      try browser.script("location.href = '/hello'")
      try browser.waitForAddress("the page, or the sign-in") { $0 != example.origin + "/public/hello" }
      return try browser.visibleText()
    }
    try browser.open(example.origin + "/.auth/authorize?return_to=%2Fhello")
    try signIn(as: "anna")
    // Chromium keeps apart what a page of another site led to, as Apple's did here.
    let first = try visit()
    #expect(first.contains("REMOTE_USER=anna.bergstrom@example.com"), "\(first)")
    #expect(try visit() == first, "the browser has it from its cache")

    // Signed out: not by a link, not by the way back, not in the cache.
    try browser.open(example.origin + "/.auth/sign-out")
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    let after = try visit()
    #expect(!after.contains("anna"), "\(after)")
    #expect(try browser.address().hasPrefix(example.origin + "/.auth/sign-in"))

    // Ben, and Anna without Ben's signing out.
    for (user, address) in [("ben", "ben@example.org"), ("anna", "anna.bergstrom@example.com")] {
      try browser.open(example.origin + "/.auth/authorize?return_to=%2Fhello")
      try signIn(as: user)
      #expect(try browser.visibleText().contains("REMOTE_USER=\(address)\n"))
      let shown = try visit()
      #expect(shown.contains("REMOTE_USER=\(address)\n"), "\(user): \(shown)")
    }
  }
}
