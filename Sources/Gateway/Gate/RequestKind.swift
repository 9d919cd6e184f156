internal import HTTPWire
internal import Pages

/// Classification of requests, for answers that depend on it.
enum RequestKind {
  /// Whether a person's browser goes to a page: only then is it redirected to sign in. A request of a script is
  /// answered 401, because it could not follow a redirect to Apple anyway, and would start attempts that nobody
  /// finishes.
  static func isNavigation(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    (head.method == .get || head.method == .head) && isPageLoad(head, bytes)
  }

  /// Whether a request comes from a browser by what it says of itself: `Sec-Fetch-Mode`, or an `Accept` that names
  /// `text/html`. Programs send `*/*` or nothing.
  static func isCertainlyBrowser(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    if head.fields.has(.secFetchMode) { return true }
    guard let accept = head.fields.line(.accept) else { return false }
    var found = false
    bytes.forEachListElement(accept.value) { element in
      var end = element.lowerBound
      while end < element.upperBound, bytes.byte(at: end) != 0x3B, bytes.byte(at: end) != 0x20 { end += 1 }
      if bytes.equalsIgnoringCase("text/html", element.lowerBound..<end) { found = true }
    }
    return found
  }

  /// Whether a browser shows the response to a person, whatever the method.
  static func isPageLoad(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard !head.fields.has(.xRequestedWith) else { return false }
    if let mode = head.fields.line(.secFetchMode), !bytes.equalsIgnoringCase("navigate", mode.value) { return false }
    guard let accept = head.fields.line(.accept) else { return true }
    return acceptsPages(bytes, accept.value)
  }

  /// Whether a person has submitted a form: a navigation that is no GET, by `Sec-Fetch-Mode` or, where that is missing,
  /// by an `Accept` that prefers HTML to JSON.
  static func isFormSubmission(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.method != .get, head.method != .head, !head.fields.has(.xRequestedWith) else { return false }
    if let mode = head.fields.line(.secFetchMode) { return bytes.equalsIgnoringCase("navigate", mode.value) }
    guard let accept = head.fields.line(.accept) else { return false }
    return prefersHTML(accept: bytes.array(accept.value))
  }

  /// Whether `Accept` has `text/html` or `*/*` in it.
  private static func acceptsPages(_ bytes: RawSpan, _ value: Range<Int>) -> Bool {
    var found = value.isEmpty
    bytes.forEachListElement(value) { element in
      var end = element.lowerBound
      while end < element.upperBound, bytes.byte(at: end) != 0x3B, bytes.byte(at: end) != 0x20 { end += 1 }
      let type = element.lowerBound..<end
      if bytes.equalsIgnoringCase("text/html", type) || bytes.equalsIgnoringCase("application/xhtml+xml", type)
        || bytes.equals("*/*", type)
      {
        found = true
      }
    }
    return found
  }

  /// Whether the only protocol asked for is WebSocket (RFC 6455 4.1), the one that browsers ask for.
  static func isWebSocket(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.wantsUpgrade, !head.fields.isRepeated(.upgrade), let upgrade = head.fields.line(.upgrade) else {
      return false
    }
    return bytes.equalsIgnoringCase("websocket", upgrade.value)
  }
}
