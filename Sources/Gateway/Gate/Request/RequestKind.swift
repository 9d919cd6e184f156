internal import HTTPWire
internal import Pages

/// Classification of requests, for answers that depend on it.
enum RequestKind {
  /// Whether a person's browser goes to a page: only then is it redirected to sign in. It says so by `Sec-Fetch-Mode`;
  /// without that, a GET whose `Accept` names `text/html` is one. Programs (git, curl, DAV clients) send `*/*` or
  /// nothing: they get 401, like a script, which could not follow a redirect to Apple either. So does a download, which
  /// would save the sign-in page as the file, and what a page embeds.
  static func isNavigation(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard !isOfScript(head, bytes) else { return false }
    if let navigates = navigates(head, bytes) {
      return (head.method == .get || head.method == .head) && navigates && isShownAsPage(head, bytes)
    }
    return head.method == .get && namesHTML(head, bytes)
  }

  /// Whether a script sent the request, by `X-Requested-With: XMLHttpRequest`, which jQuery and others add. One that
  /// sets it twice sends a list. Any other value says nothing: a WebView of Android, such as the browsers inside of
  /// apps, names its app there (`com.example.app`), with navigations as well.
  private static func isOfScript(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let line = head.fields.line(.xRequestedWith) else { return false }
    var found = false
    bytes.forEachListElement(line.value) { found = found || bytes.equalsIgnoringCase("xmlhttprequest", $0) }
    return found
  }

  /// Whether the browser goes to a page, by `Sec-Fetch-Mode`; nil without it. Of a navigation that a service worker
  /// passes on (`fetch(event.request)`) Chromium says `navigate`, and Firefox `same-origin`; the other fields are those
  /// of the navigation, but for an empty `Sec-Fetch-Dest`. Scripts do not send `Upgrade-Insecure-Requests`.
  private static func navigates(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool? {
    guard let mode = head.fields.line(.secFetchMode) else { return nil }
    if bytes.equalsIgnoringCase("navigate", mode.value) { return true }
    guard bytes.equalsIgnoringCase("same-origin", mode.value) else { return false }
    var (hasNoDestination, upgrades) = (false, false)
    for line in head.fields.lines {
      if bytes.equalsIgnoringCase("sec-fetch-dest", line.name) { hasNoDestination = bytes.equals("empty", line.value) }
      if bytes.equalsIgnoringCase("upgrade-insecure-requests", line.name) { upgrades = bytes.equals("1", line.value) }
    }
    return hasNoDestination && upgrades && namesHTML(head, bytes)
  }

  /// Whether a navigation's response is shown in a tab or a frame, by `Sec-Fetch-Dest`: a link with `download` has
  /// `empty`, and no `Accept` that names HTML, unlike a page that a service worker fetches. True for browsers that do
  /// not send it.
  private static func isShownAsPage(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let line = head.fields.lines.first(where: { bytes.equalsIgnoringCase("sec-fetch-dest", $0.name) }) else {
      return true
    }
    return bytes.equals("document", line.value) || bytes.equals("iframe", line.value)
      || bytes.equals("frame", line.value) || bytes.equals("empty", line.value) && namesHTML(head, bytes)
  }

  /// Whether `Accept` has `text/html` in it.
  static func namesHTML(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let accept = head.fields.line(.accept) else { return false }
    var found = false
    bytes.forEachListElement(accept.value) { element in
      var end = element.lowerBound
      while end < element.upperBound, bytes.byte(at: end) != 0x3B, bytes.byte(at: end) != 0x20 { end += 1 }
      if bytes.equalsIgnoringCase("text/html", element.lowerBound..<end) { found = true }
    }
    return found
  }

  /// Whether a browser shows the response to a person, whatever the method: then a failure is a page.
  static func isPageLoad(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard !isOfScript(head, bytes) else { return false }
    if navigates(head, bytes) == false { return false }
    guard let accept = head.fields.line(.accept) else { return false }
    return prefersHTML(accept: bytes.array(accept.value))
  }

  /// Whether a person has submitted a form: a navigation that is not a GET, by `Sec-Fetch-Mode` or, where that is
  /// missing, by an `Accept` that prefers HTML to JSON.
  static func isFormSubmission(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.method != .get, head.method != .head, !isOfScript(head, bytes) else { return false }
    if let navigates = navigates(head, bytes) { return navigates }
    guard let accept = head.fields.line(.accept) else { return false }
    return prefersHTML(accept: bytes.array(accept.value))
  }

  /// Whether a request is a CORS preflight (Fetch Standard, 4.8): OPTIONS with `Origin` and
  /// `Access-Control-Request-Method`, and no body.
  static func isPreflight(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.method == .options, head.framing == .none, !head.wantsUpgrade, head.fields.has(.origin) else {
      return false
    }
    return head.fields.lines.contains { bytes.equalsIgnoringCase("access-control-request-method", $0.name) }
  }

  /// Whether the only protocol asked for is WebSocket (RFC 6455, 4.1), the one that browsers ask for.
  static func isWebSocket(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.wantsUpgrade else { return false }
    return !hasOtherUpgrade(head, bytes)
  }

  /// Whether there is an `Upgrade` that is not `websocket` alone, whatever `Connection` says: a proxy that asks
  /// `verify` overwrites that field.
  static func hasOtherUpgrade(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let upgrade = head.fields.line(.upgrade) else { return false }
    return head.fields.isRepeated(.upgrade) || !bytes.equalsIgnoringCase("websocket", upgrade.value)
  }

  /// Whether a proxy asks `verify` about the handshake of a WebSocket. Of what a browser sends with it, proxies remove
  /// different parts: `Upgrade` and `Connection` are of one connection only, and HTTP/2 has no `Sec-WebSocket-Key`.
  static func isAboutWebSocket(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    head.fields.lines.contains { line in
      switch line.known {
      case .upgrade:
        var found = false
        bytes.forEachListElement(line.value) { found = found || bytes.equalsIgnoringCase("websocket", $0) }
        return found
      case .secFetchMode: return bytes.equalsIgnoringCase("websocket", line.value)
      case .other:
        return bytes.equalsIgnoringCase("sec-websocket-version", line.name)
          || bytes.equalsIgnoringCase("sec-websocket-key", line.name)
      default: return false
      }
    }
  }
}
