import Foundation

/// Somebody with a browser, without the browser: follows redirects, keeps cookies by site, sends what a browser says
/// about a request (`Origin`, `Sec-Fetch-…`), submits forms. Scripts do not run.
@SystemActor
final class Visitor {
  var jar = CookieJar()
  /// The page that is open.
  private(set) var page: Page?
  /// The port that requests to a port of loopback are sent to instead: another gateway of the same name.
  var detours: [UInt16: UInt16] = [:]
  /// The `User-Agent`; nil sends none.
  var userAgent: String?
  /// Every address asked for, in order.
  private(set) var history: [WebAddress] = []

  struct Page {
    let address: WebAddress
    let response: HTTPResponse

    var forms: [HTMLForm] { HTMLForm.all(in: response.text) }
    var status: Int { response.status }
    var text: String { response.text }
  }

  // MARK: Navigating

  /// Opens an address as if it was typed in.
  @discardableResult
  func open(_ address: String, following: Bool = true) throws -> Page {
    try navigate("GET", WebAddress(address), initiator: nil, following: following)
  }

  /// Follows a link of the page that is open.
  @discardableResult
  func follow(_ link: String, following: Bool = true) throws -> Page {
    let from = try currentPage().address
    return try navigate("GET", WebAddress(link, relativeTo: from), initiator: from, following: following)
  }

  /// Submits a form of the page that is open, by one of its buttons.
  @discardableResult
  func submit(_ form: HTMLForm, button: (String, String)? = nil, following: Bool = true) throws -> Page {
    let from = try currentPage().address
    let pairs = form.inputs + (button.map { [$0] } ?? [])
    var target = try WebAddress(form.action.isEmpty ? from.description : form.action, relativeTo: from)
    if form.method == "GET" {
      target.target = target.path + "?" + FormEncoding.encode(pairs)
      return try navigate("GET", target, initiator: from, following: following)
    }
    return try navigate(
      "POST", target, initiator: from, body: FormEncoding.encode(pairs), following: following)
  }

  /// Opens the address that the last response redirects to.
  @discardableResult
  func followRedirect() throws -> Page {
    let page = try currentPage()
    guard let location = page.response.location else { throw HarnessError.missing("a Location in \(page.response)") }
    return try navigate("GET", WebAddress(location, relativeTo: page.address), initiator: page.address, following: true)
  }

  // MARK: Without navigating

  /// Asks as a script of the gateway's own pages does (`fetch`, XHR).
  func fetch(
    _ address: String, method: String = "GET", fields: [(String, String)] = [], form: String? = nil
  ) throws -> HTTPResponse {
    let target = try WebAddress(address)
    let kind = form == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")]
    return try send(
      method, target, initiator: target,
      fields: [("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Dest", "empty")] + kind
        + fields, body: form)
  }

  /// The `Cookie` header that a request of the gateway's own pages carries.
  func cookieHeader(for address: String) throws -> String? {
    let address = try WebAddress(address)
    return jar.header(host: address.host, path: address.path, crossSite: false, crossSiteUnsafe: false)
  }

  // MARK: Implementation

  private func currentPage() throws -> Page {
    guard let page else { throw HarnessError.missing("an open page") }
    return page
  }

  private func navigate(
    _ method: String, _ address: WebAddress, initiator: WebAddress?, body: String? = nil, following: Bool
  ) throws -> Page {
    var (method, address, body) = (method, address, body)
    for _ in 0..<12 {
      var fields = [
        ("Accept", "text/html,application/xhtml+xml"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"),
        ("Sec-Fetch-User", "?1"), ("Sec-Fetch-Site", relation(of: initiator, to: address)),
      ]
      if method == "POST" {
        fields += [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", initiator?.origin ?? "null")]
      }
      let response = try send(method, address, initiator: initiator, fields: fields, body: body)
      let opened = Page(address: address, response: response)
      page = opened
      guard following, (300..<400).contains(response.status), let location = response.location else { return opened }
      address = try WebAddress(location, relativeTo: address)
      if response.status != 307 && response.status != 308 { (method, body) = ("GET", nil) }
    }
    throw HarnessError.malformed("a redirect without end at \(address)")
  }

  private func send(
    _ method: String, _ address: WebAddress, initiator: WebAddress?, fields: [(String, String)], body: String? = nil
  ) throws -> HTTPResponse {
    history.append(address)
    let isCrossSite = initiator.map { $0.host != address.host } ?? false
    let isSafe = method == "GET" || method == "HEAD"
    let cookies = jar.header(
      host: address.host, path: address.path, crossSite: isCrossSite, crossSiteUnsafe: isCrossSite && !isSafe)
    var client = HTTPClient(port: detours[address.port] ?? address.port)
    client.authority = "\(address.host):\(address.port)"
    let response = try client.send(
      method, address.target,
      fields: fields + (cookies.map { [("Cookie", $0)] } ?? []) + (userAgent.map { [("User-Agent", $0)] } ?? []),
      body: body.map { Array($0.utf8) })
    jar.take(response, host: address.host)
    return response
  }

  private func relation(of initiator: WebAddress?, to address: WebAddress) -> String {
    guard let initiator else { return "none" }
    if initiator.origin == address.origin { return "same-origin" }
    return initiator.host == address.host ? "same-site" : "cross-site"
  }
}
