internal import HTTPWire
internal import Synchronization
internal import WebFormats

/// The session cookies of the application on one upstream (`end_cookies`), bound to one account: a code of the account
/// is appended to the value on the way to the browser, and removed on the way back. A cookie without the code of the
/// present account is not forwarded.
///
///     Set-Cookie: PHPSESSID=abc; HttpOnly   is sent as   Set-Cookie: PHPSESSID=abc.CODE; HttpOnly
///
/// Only `HttpOnly` cookies have a code, because scripts may read and compare others.
package final class CookieBinding: Sendable {
  /// Whether responses that may be used again without validation are made private.
  package let makesPrivate: Bool
  private let cookies: [Cookie]
  private let unbound: UnboundCookies

  /// - Parameters:
  ///   - cookies: in the order of `unbound`.
  ///   - makesPrivate: whether responses that may be used again without validation are made private.
  package init(_ cookies: [Cookie], unbound: UnboundCookies, makesPrivate: Bool) {
    self.cookies = cookies
    self.unbound = unbound
    self.makesPrivate = makesPrivate
  }

  /// One cookie.
  package struct Cookie: Sendable {
    fileprivate let name: [UInt8]
    /// A full stop and the code, one for each secret; the first is written.
    fileprivate let suffixes: [[UInt8]]

    /// - Parameter codes: the code of the account by each secret, the current one first: characters of a cookie value
    ///   (RFC 6265, 4.1.1).
    package init(name: String, codes: [String]) {
      self.name = Array(name.utf8)
      suffixes = codes.map { Array(".\($0)".utf8) }
    }
  }

  // MARK: Requests

  /// Adds what must not be forwarded to the gateway's own cookies of a head: codes of this account, and whole cookies
  /// that have none.
  func mark(_ bytes: RawSpan, in head: inout RequestHead) {
    guard !cookies.isEmpty, let first = head.fields.index(of: .cookie) else { return }
    let count = head.gatewayCookies.count
    for index in first..<head.fields.lines.count {
      let line = head.fields.lines[index]
      if line.known == .cookie { mark(bytes, line.value, index, &head) }
    }
    guard head.gatewayCookies.count > count, count > 0 else { return }
    head.gatewayCookies.sort { ($0.line, $0.whole.lowerBound) < ($1.line, $1.whole.lowerBound) }
  }

  private func mark(_ bytes: RawSpan, _ value: Range<Int>, _ line: Int, _ head: inout RequestHead) {
    var start = value.lowerBound
    while start < value.upperBound {
      let end = bytes.firstSemicolon(in: start..<value.upperBound)
      let next = min(end + 1, value.upperBound)
      let pair = bytes.trimmed(start..<end)
      var equals = pair.lowerBound
      while equals < pair.upperBound, bytes.byte(at: equals) != UInt8(ascii: "=") { equals += 1 }
      let name = bytes.trimmed(pair.lowerBound..<equals)
      if let cookie = index(of: name, bytes) {
        let content = bytes.trimmed(min(equals + 1, pair.upperBound)..<pair.upperBound)
        if let suffix = suffix(of: cookie, content, bytes) {
          head.gatewayCookies.append(GatewayCookies.Place(line: line, name: name, value: content, whole: suffix))
        } else if !unbound.contains(cookie) {
          head.gatewayCookies.append(GatewayCookies.Place(line: line, name: name, value: content, whole: start..<next))
        }
      }
      start = next
    }
  }

  /// The place of the code at the end of a value; nil without one of this account.
  private func suffix(of cookie: Int, _ value: Range<Int>, _ bytes: RawSpan) -> Range<Int>? {
    for suffix in cookies[cookie].suffixes where value.count >= suffix.count {
      let place = value.upperBound - suffix.count..<value.upperBound
      if bytes.equals(suffix.span.bytes, place) { return place }
    }
    return nil
  }

  // MARK: Responses

  /// The code for a `Set-Cookie` value, and its place; nil for other cookies, and for those that are not bound.
  func code(for value: Range<Int>, _ bytes: RawSpan) -> (place: Int, suffix: [UInt8])? {
    let end = bytes.firstSemicolon(in: value)
    var equals = value.lowerBound
    while equals < end, bytes.byte(at: equals) != UInt8(ascii: "=") { equals += 1 }
    guard equals < end, let cookie = index(of: bytes.trimmed(value.lowerBound..<equals), bytes) else { return nil }
    let content = bytes.trimmed(equals + 1..<end)
    let attributes = CookieAttributes(bytes, end..<value.upperBound)
    // A cookie that is being deleted often has fewer attributes.
    guard !content.isEmpty, !attributes.isExpired else { return nil }
    guard attributes.isHTTPOnly else {
      unbound.note(cookie)
      return nil
    }
    guard !unbound.contains(cookie), let suffix = cookies[cookie].suffixes.first else { return nil }
    return (content.upperBound, suffix)
  }

  private func index(of name: Range<Int>, _ bytes: RawSpan) -> Int? {
    cookies.firstIndex { bytes.equals($0.name.span.bytes, name) }
  }
}

/// The session cookies of an application that were set without `HttpOnly`: they are forwarded as they are. The same
/// for all accounts and event loops.
package final class UnboundCookies: Sendable {
  /// Most cookies.
  package static let limit = 64

  /// A bit for each.
  private let found: Atomic<UInt64>
  private let report: @Sendable (_ cookie: Int) -> Void

  /// - Parameters:
  ///   - known: those that are known already. Default: none.
  ///   - report: is called once for each other one.
  package init(_ known: [Int] = [], report: @escaping @Sendable (_ cookie: Int) -> Void) {
    let bits: UInt64 = known.reduce(0) { $0 | 1 << UInt64($1) }
    found = Atomic(bits)
    self.report = report
  }

  /// Whether a cookie was set without `HttpOnly`.
  package func contains(_ cookie: Int) -> Bool { found.load(ordering: .relaxed) & 1 << UInt64(cookie) != 0 }

  func note(_ cookie: Int) {
    let bit: UInt64 = 1 << UInt64(cookie)
    if found.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 { report(cookie) }
  }
}

/// The attributes of a `Set-Cookie` that say whether its cookie is bound.
private struct CookieAttributes {
  var isHTTPOnly = false
  /// Whether `Max-Age` is not positive; nil without one that can be read.
  private var endsByAge: Bool?
  /// Whether `Expires` is past.
  private var endsByDate = false

  /// Whether the cookie is deleted. `Max-Age` has precedence over `Expires` (RFC 6265, 5.3).
  var isExpired: Bool { endsByAge ?? endsByDate }

  /// - Parameter range: from the first semicolon on.
  init(_ bytes: RawSpan, _ range: Range<Int>) {
    var start = range.lowerBound
    while start < range.upperBound {
      start += 1
      let end = bytes.firstSemicolon(in: start..<range.upperBound)
      note(bytes, bytes.trimmed(start..<end))
      start = end
    }
  }

  private mutating func note(_ bytes: RawSpan, _ attribute: Range<Int>) {
    var equals = attribute.lowerBound
    while equals < attribute.upperBound, bytes.byte(at: equals) != UInt8(ascii: "=") { equals += 1 }
    let name = bytes.trimmed(attribute.lowerBound..<equals)
    // Its value, if there is one, means nothing (RFC 6265, 5.2.6).
    if bytes.equalsIgnoringCase("httponly", name) { isHTTPOnly = true }
    guard equals < attribute.upperBound else { return }
    let value = bytes.trimmed(equals + 1..<attribute.upperBound)
    if bytes.equalsIgnoringCase("max-age", name) {
      guard !value.isEmpty else { return }
      let isNegative = bytes.byte(at: value.lowerBound) == UInt8(ascii: "-")
      let digits = isNegative ? value.dropFirst() : value
      // Anything else is not an attribute at all (RFC 6265, 5.2.2).
      guard !digits.isEmpty, digits.allSatisfy({ bytes.byte(at: $0).isASCIIDigit }) else { return }
      endsByAge = isNegative || digits.allSatisfy { bytes.byte(at: $0) == UInt8(ascii: "0") }
    } else if bytes.equalsIgnoringCase("expires", name) {
      // Old forms have hyphens in the date.
      let text = bytes.array(value).enumerated().map { place, byte in
        byte == UInt8(ascii: "-") && place > 4 && place < 16 ? UInt8(ascii: " ") : byte
      }
      // Of several, the last (RFC 6265, 5.3).
      if let date = HTTPDate.parse(text) { endsByDate = date < WallClock.now() / 1_000 }
    }
  }
}
