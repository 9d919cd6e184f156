internal import HTTPWire
internal import Sessions
internal import WebFormats

/// A form whose entries may be kept while its user signs in.
struct KeepableForm: Sendable {
  /// Most bytes of its body.
  let limit: Int
  /// The path of the page that it was on.
  let returnTo: String
  /// The sign-in that was not recent enough; nil where nobody was signed in.
  let outdated: OutdatedSignIn?

  /// A sign-in that has to be repeated.
  struct OutdatedSignIn: Sendable {
    let subject: Subject
    /// The route's, in seconds; 0 for none.
    let maxAge: Int
  }

  /// Whether a submitted form can be kept, by its head. Only what a page of our own origin submits at the top level is:
  /// to submit anything else later, from our own origin, would launder a cross-site request. A service worker that
  /// passes the form on hides whether it is at the top level, and nothing else; the page cannot be framed.
  /// - Parameters:
  ///   - limit: most bytes of the body, whose length must be known.
  ///   - origin: our own, as browsers write it in `Origin`.
  static func isOne(_ head: borrowing RequestHead, _ bytes: RawSpan, limit: Int, origin: [UInt8]) -> Bool {
    guard head.method == .post, case .length(let length) = head.framing, length <= limit else { return false }
    // The origin of a page with `Referrer-Policy: no-referrer` is `null`; that of a sandboxed frame is, too, which is
    // `cross-site`.
    guard let line = head.fields.line(.origin), !head.fields.isRepeated(.origin),
      bytes.array(line.value) == origin || bytes.equals("null", line.value),
      let site = head.fields.line(.secFetchSite), bytes.equals("same-origin", site.value),
      let mode = head.fields.line(.secFetchMode), bytes.equals("navigate", mode.value)
    else { return false }
    var (isTopLevel, hasType) = (false, false)
    for line in head.fields.lines {
      if bytes.equalsIgnoringCase("content-encoding", line.name) { return false }
      if bytes.equalsIgnoringCase("sec-fetch-dest", line.name) {
        isTopLevel =
          bytes.equals("document", line.value)
          || bytes.equals("empty", line.value) && RequestKind.namesHTML(head, bytes)
      }
      if bytes.equalsIgnoringCase("content-type", line.name) {
        guard !hasType, FormEntries.isReadable(contentType: bytes.array(line.value)) else { return false }
        hasType = true
      }
    }
    return isTopLevel && hasType
  }
}
