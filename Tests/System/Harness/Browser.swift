import Foundation
import TemporaryDirectoryTesting

/// A real browser: Debian's Chromium, headless, by WebDriver (https://www.w3.org/TR/webdriver2/).
@SystemActor
final class Browser {
  private let driver: ServerProcess
  private let client: HTTPClient
  private let profile: TemporaryDirectory
  private var session = ""

  /// Its `User-Agent`.
  enum Screen {
    case desktop, phone
  }

  /// Starts a browser with a profile of its own.
  /// - Parameters:
  ///   - acceptsAnyCertificate: whether it goes to sites whose authority it does not know.
  ///   - blocksThirdPartyCookies: whether it refuses the cookies of other sites than the page's own.
  init(acceptsAnyCertificate: Bool = false, blocksThirdPartyCookies: Bool = false) throws {
    let chromium = try Machine.program("chromium", package: "chromium")
    let port = try FreePort.take()
    profile = try TemporaryDirectory()
    driver = try ServerProcess(
      Machine.program("chromedriver", package: "chromium-driver"), ["--port=\(port)"],
      environment: ["HOME": profile.path, "TMPDIR": profile.path])
    client = HTTPClient(port: port)
    try driver.waitUntilReady("chromedriver answers") { try client.get("/status").status == 200 }
    let arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=en-US",
      "--window-size=1280,900", "--user-data-dir=\(profile.path)/profile",
    ]
    let preferences: [String: Any] =
      blocksThirdPartyCookies ? ["profile.block_third_party_cookies": true, "profile.cookie_controls_mode": 1] : [:]
    let options: [String: Any] = ["binary": chromium, "args": arguments, "prefs": preferences]
    let answer = try command(
      "POST", "/session",
      [
        "capabilities": [
          "alwaysMatch": ["goog:chromeOptions": options, "acceptInsecureCerts": acceptsAnyCertificate]
        ]
      ], by: .seconds(90))
    guard let id = (answer as? [String: Any])?["sessionId"] as? String else {
      throw HarnessError.malformed("WebDriver session \(answer)")
    }
    session = "/session/\(id)"
  }

  deinit { driver.stop() }

  /// Closes every window and ends the browser.
  func quit() {
    _ = try? command("DELETE", session)
    driver.stop()
  }

  // MARK: Pages

  func open(_ address: String) throws { _ = try command("POST", session + "/url", ["url": address], by: .seconds(60)) }
  func reload() throws { _ = try command("POST", session + "/refresh", [:]) }
  func back() throws { _ = try command("POST", session + "/back", [:]) }
  func address() throws -> String { try text(command("GET", session + "/url")) }
  func title() throws -> String { try text(command("GET", session + "/title")) }
  func source() throws -> String { try text(command("GET", session + "/source")) }

  /// The text that the page shows.
  func visibleText() throws -> String {
    try text(script("return document.body ? document.body.innerText : ''"))
  }

  /// Waits until the address satisfies `isThere`, and answers it.
  @discardableResult
  func waitForAddress(
    _ what: String, by deadline: Deadline = .standard, where isThere: (String) throws -> Bool
  ) throws -> String {
    do {
      return try poll(what, by: deadline) {
        let address = try address()
        return try isThere(address) ? address : nil
      }
    } catch { throw HarnessError.timedOut("\(what); the browser is at \((try? address()) ?? "?"): \(shown)") }
  }

  /// Waits until the page shows `text`.
  func waitForText(_ text: String, by deadline: Deadline = .standard) throws {
    do {
      try poll("the text \"\(text)\"", by: deadline) { try visibleText().contains(text) ? () : nil }
    } catch { throw HarnessError.timedOut("\"\(text)\"; the browser is at \((try? address()) ?? "?"): \(shown)") }
  }

  // MARK: Elements, by CSS selector

  /// Waits for an element that is shown, and clicks it.
  func click(_ selector: String) throws { _ = try command("POST", find(selector) + "/click", [:]) }

  /// Waits for a field, and types.
  func type(_ text: String, into selector: String) throws {
    _ = try command("POST", find(selector) + "/value", ["text": text])
  }

  /// Empties a field.
  func clear(_ selector: String) throws { _ = try command("POST", find(selector) + "/clear", [:]) }

  /// The text of an element.
  func text(of selector: String) throws -> String { try text(command("GET", find(selector) + "/text")) }

  /// Presses a key where the focus is, as a keyboard user does. `\u{E004}` is Tab, `\u{E007}` Enter.
  func press(_ key: String) throws {
    let keyboard: [String: Any] = [
      "type": "key", "id": "keyboard",
      "actions": [["type": "keyDown", "value": key], ["type": "keyUp", "value": key]],
    ]
    _ = try command("POST", session + "/actions", ["actions": [keyboard]])
  }

  func exists(_ selector: String) throws -> Bool {
    let found = try command("POST", session + "/elements", ["using": "css selector", "value": selector])
    return !((found as? [Any]) ?? []).isEmpty
  }

  /// Waits for an element; answers its address below the session.
  private func find(_ selector: String, by deadline: Deadline = .standard) throws -> String {
    let identifier = "element-6066-11e4-a52e-4f735466cecf"
    do {
      return try poll(selector, by: deadline) {
        let found = try command("POST", session + "/elements", ["using": "css selector", "value": selector])
        guard let id = (found as? [[String: String]])?.first?[identifier] else { return nil }
        return session + "/element/" + id
      }
    } catch { throw HarnessError.timedOut("\(selector); the browser is at \((try? address()) ?? "?"): \(shown)") }
  }

  // MARK: Windows, cookies, scripts

  /// Opens a tab and goes there; answers the handles of the old and the new one.
  func openTab() throws -> (old: String, new: String) {
    let old = try text(command("GET", session + "/window"))
    let made = try command("POST", session + "/window/new", ["type": "tab"])
    guard let new = (made as? [String: Any])?["handle"] as? String else { throw HarnessError.malformed("\(made)") }
    try switchTo(new)
    return (old, new)
  }

  /// The handle of the tab that commands go to, and those of all tabs.
  func tab() throws -> String { try text(command("GET", session + "/window")) }
  func tabs() throws -> [String] { try command("GET", session + "/window/handles") as? [String] ?? [] }
  func closeTab() throws { _ = try command("DELETE", session + "/window") }

  func switchTo(_ tab: String) throws { _ = try command("POST", session + "/window", ["handle": tab]) }

  /// Every cookie that the current page may send, by name.
  func cookies() throws -> [String: [String: Any]] {
    let list = try command("GET", session + "/cookie") as? [[String: Any]] ?? []
    return Dictionary(list.map { ($0["name"] as? String ?? "", $0) }) { first, _ in first }
  }

  func deleteCookies() throws { _ = try command("DELETE", session + "/cookie") }

  /// Runs a script in the page and answers what it returns (for a promise, what it resolves to).
  @discardableResult
  func script(_ script: String, _ arguments: [Any] = []) throws -> Any {
    try command("POST", session + "/execute/sync", ["script": script, "args": arguments])
  }

  /// A command of the Chrome DevTools Protocol.
  @discardableResult
  func devTools(_ name: String, _ parameters: [String: Any] = [:]) throws -> Any {
    try command("POST", session + "/goog/cdp/execute", ["cmd": name, "params": parameters])
  }

  // MARK: Appearance

  func show(on screen: Screen) throws {
    let (width, height, scale) = screen == .phone ? (390, 844, 2) : (1280, 900, 1)
    try devTools(
      "Emulation.setDeviceMetricsOverride",
      ["width": width, "height": height, "deviceScaleFactor": scale, "mobile": screen == .phone])
  }

  func prefer(dark: Bool) throws {
    try devTools(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": dark ? "dark" : "light"]]])
  }

  /// Writes a picture of the page to `.build/screenshots/NAME.png`.
  func screenshot(_ name: String) throws {
    let picture = try text(command("GET", session + "/screenshot"))
    guard let data = Data(base64Encoded: picture) else { throw HarnessError.malformed("screenshot") }
    try FileManager.default.createDirectory(at: Machine.screenshots, withIntermediateDirectories: true)
    try data.write(to: Machine.screenshots.appending(path: "\(name).png"))
  }

  /// Pictures of the page on desktop and phone, in light and dark.
  func screenshots(_ name: String) throws {
    for (screen, dark) in [(Screen.desktop, false), (.desktop, true), (.phone, false), (.phone, true)] {
      try show(on: screen)
      try prefer(dark: dark)
      try screenshot("\(name)-\(screen)-\(dark ? "dark" : "light")")
    }
    try show(on: .desktop)
    try prefer(dark: false)
  }

  // MARK: Implementation

  private var shown: String { String(((try? visibleText()) ?? "").prefix(600)) }

  private func text(_ value: Any) throws -> String {
    guard let text = value as? String else { throw HarnessError.malformed("WebDriver value \(value)") }
    return text
  }

  @discardableResult
  private func command(
    _ method: String, _ path: String, _ body: [String: Any]? = nil, by deadline: Deadline = .standard
  ) throws -> Any {
    let bytes = try body.map { Array(try JSONSerialization.data(withJSONObject: $0)) }
    let response = try client.send(
      method, path, fields: [("Content-Type", "application/json")], body: bytes, by: deadline)
    let value = try response.json()["value"] ?? NSNull()
    guard response.status == 200 else {
      throw HarnessError.malformed("WebDriver \(method) \(path): \(response.status) \(value)")
    }
    return value
  }
}
