internal import HTTPWire

/// Rewrites the head of an upstream's response for the account that it is sent to: its session cookies get the code of
/// the account, and a cache must not use it again for another account.
///
/// A response that may be used again without validation gets `Cache-Control: private`, and `Vary: Cookie` unless it is
/// `immutable`: the next account has other cookies, so that a browser's own cache does not answer with it. A field that
/// addresses some caches only, which prefer it to `Cache-Control`, is removed unless it forbids them to keep the
/// response.
enum PrivateResponse {
  /// Reads the rewritten head: an upstream may send as many fields as ever, and the lines that are added come on top.
  static let parser = ResponseHeadParser(
    limits: HeadLimits(
      headBytes: LoopResources.responseHeads.headBytes,
      fieldCount: LoopResources.responseHeads.fieldCount + addedFields, targetBytes: 0),
    lenience: .statusRange)

  /// Most lines that are added: `Cache-Control` and `Vary`.
  private static let addedFields = 2

  /// The head with what is changed; nil where nothing is.
  static func rewrite(
    _ head: borrowing ResponseHead, _ bytes: RawSpan, _ binding: CookieBinding, method: RequestHead.Method
  ) -> [UInt8]? {
    let caching = binding.makesPrivate ? Caching(head, bytes, method: method) : nil
    let isReusable = caching?.isReusable == true
    var result: [UInt8] = []
    var run = 0
    var isChanged = isReusable
    for line in head.fields.lines {
      if line.known == .setCookie, let code = binding.code(for: line.value, bytes) {
        isChanged = true
        result += bytes.array(run..<code.place)
        result += code.suffix
        run = code.place
      } else if isReusable && bytes.equalsIgnoringCase("cache-control", line.name)
        || binding.makesPrivate && isForSharedCaches(line, bytes)
      {
        isChanged = true
        result += bytes.array(run..<Int(line.start))
        run = Int(line.end)
      }
    }
    guard isChanged else { return nil }
    result += bytes.array(run..<head.byteCount - 2)
    if isReusable { caching?.write(to: &result) }
    result += "\r\n".utf8
    return result
  }

  /// Whether a line lets some shared caches keep the response, whatever `Cache-Control` says (RFC 9213, 2.2).
  private static func isForSharedCaches(_ line: FieldLine, _ bytes: RawSpan) -> Bool {
    TargetedCacheControl.isTargeted(bytes, line.name) && !TargetedCacheControl.forbidsStoring(line, bytes)
  }

  /// The directives of a response for caches (RFC 9111, 5.2.2).
  private struct Caching {
    /// Whether a cache may use the response again without asking.
    private(set) var isReusable: Bool
    private var isImmutable = false
    private var variesByCookie = false
    /// Whether `max-age` is 0.
    private var isStaleAtOnce = false
    /// Whether a cache may use it nevertheless: a shared one by `s-maxage`, any while it is stale (RFC 5861).
    private var staysUsable = false
    /// The directives that stay.
    private var kept: [UInt8] = []

    init(_ head: borrowing ResponseHead, _ bytes: RawSpan, method: RequestHead.Method) {
      isReusable = method == .get || method == .head
      var isFresh = Self.heuristicStatuses.contains(head.status)
      var hasQuotes = false
      for line in head.fields.lines {
        if bytes.equalsIgnoringCase("cache-control", line.name) {
          hasQuotes = hasQuotes || bytes.array(line.value).contains(UInt8(ascii: "\""))
          bytes.forEachListElement(line.value) { note(bytes, $0, &isFresh) }
        } else if bytes.equalsIgnoringCase("vary", line.name) {
          bytes.forEachListElement(line.value) { element in
            if bytes.equals("*", element) || bytes.equalsIgnoringCase("cookie", element) { variesByCookie = true }
          }
        } else if bytes.equalsIgnoringCase("expires", line.name) {
          isFresh = true
        }
      }
      if !isFresh || isStaleAtOnce && !staysUsable { isReusable = false }
      // Fields of a directive can have commas in them.
      if hasQuotes { kept = Array(", no-cache".utf8) }
    }

    private mutating func note(_ bytes: RawSpan, _ directive: Range<Int>, _ isFresh: inout Bool) {
      var end = directive.lowerBound
      while end < directive.upperBound, bytes.byte(at: end) != UInt8(ascii: "=") { end += 1 }
      let name = directive.lowerBound..<end
      let value = min(end + 1, directive.upperBound)..<directive.upperBound
      if bytes.equalsIgnoringCase("no-store", directive) || bytes.equalsIgnoringCase("no-cache", directive) {
        isReusable = false
      } else if bytes.equalsIgnoringCase("max-age", name) {
        if !value.isEmpty, value.allSatisfy({ bytes.byte(at: $0) == UInt8(ascii: "0") }) { isStaleAtOnce = true }
        isFresh = true
      } else if bytes.equalsIgnoringCase("s-maxage", name) || bytes.equalsIgnoringCase("stale-while-revalidate", name)
        || bytes.equalsIgnoringCase("stale-if-error", name)
      {
        staysUsable = true
      } else if bytes.equalsIgnoringCase("immutable", directive) {
        isImmutable = true
      }
      let isForShared =
        bytes.equalsIgnoringCase("public", directive) || bytes.equalsIgnoringCase("s-maxage", name)
        || bytes.equalsIgnoringCase("private", name)
      if !isForShared { kept += ", ".utf8 + bytes.array(directive) }
    }

    func write(to result: inout [UInt8]) {
      result += "Cache-Control: private".utf8 + kept + "\r\n".utf8
      if !isImmutable, !variesByCookie { result += "Vary: Cookie\r\n".utf8 }
    }

    /// The statuses whose responses a cache may use again by its own guess (RFC 9110, 15.1), and 304, which renews one.
    private static let heuristicStatuses: Set<Int> = [
      200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501,
    ]
  }
}
