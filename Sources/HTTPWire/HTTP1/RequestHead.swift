/// A parsed request head: ranges in its bytes, and their meaning for the connection.
///
/// The bytes stay in the buffer they were read into, and are passed together with the head. It cannot be copied: one
/// head serves an event loop, and passing it on costs no reference count.
@usableFromInline
package struct RequestHead: ~Copyable, Sendable {
  /// The method, where the gateway knows it.
  package var method: Method = .other
  /// The method's bytes.
  package var methodRange: Range<Int> = 0..<0
  /// The request target as it came.
  package var target: Range<Int> = 0..<0
  /// The target's path, without the query: empty for `*` and for an absolute form without a path.
  package var path: Range<Int> = 0..<0
  /// The query with its question mark; empty without one.
  package var query: Range<Int> = 0..<0
  /// Host and port: of the target in absolute form, otherwise of `Host`; empty in HTTP/1.0 without either.
  package var authority: Range<Int> = 0..<0
  /// Whether the target came in absolute form, so that `Host` must be replaced (RFC 9112, 3.2.2).
  package var isAbsoluteForm = false
  /// Whether the target is `*`: the server as a whole, which only OPTIONS may ask (RFC 9112, 3.2.4).
  package var isAsteriskForm = false
  /// Whether the client speaks HTTP/1.1 rather than 1.0.
  package var isHTTP11 = true
  /// Its fields, in the order received.
  package var fields = FieldTable()
  /// Framing of the body.
  package var framing: RequestFraming = .none
  /// Whether the client keeps this connection.
  package var keepAlive = true
  /// Whether the client waits for `100 Continue` before it sends the body.
  package var expectsContinue = false
  /// Whether `Connection` nominates `upgrade` and there is an `Upgrade` field (RFC 9110, 7.8).
  package var wantsUpgrade = false
  /// Whether `Connection` nominates a field other than the usual ones.
  package var nominatesFields = false
  /// Ranges of the gateway's own cookies: filled by ``GatewayCookies``.
  package var gatewayCookies: [GatewayCookies.Place] = []
  /// Bytes of the whole head, with empty lines before it and the empty line that ends it.
  package var byteCount = 0
  /// Offset of the fields.
  package var fieldsStart = 0

  /// An empty head, for a parser to fill.
  package init() {}

  /// The methods that make a difference to a gateway (RFC 9110, 9.3, RFC 5789).
  @usableFromInline
  package enum Method: UInt8, Sendable {
    /// By their names in capital letters; `other` for all that are not listed.
    case other, get, head, post, put, delete, options, patch

    /// Whether a request can be sent again without harm (RFC 9110, 9.2.2).
    @inlinable @inline(__always)
    package var isIdempotent: Bool {
      switch self {
      case .get, .head, .put, .delete, .options: true
      case .other, .post, .patch: false
      }
    }

    /// Whether an application can be expected to read the body: it means something to each of these methods (RFC 9110,
    /// 9.3). Of GET, HEAD, DELETE and OPTIONS it means nothing, and an unknown method may be refused before its body is
    /// read.
    @inlinable @inline(__always)
    package var readsBody: Bool {
      switch self {
      case .post, .put, .patch: true
      case .other, .get, .head, .delete, .options: false
      }
    }
  }

  @inline(__always)
  mutating func reset() {
    fields.removeAll()
    if !gatewayCookies.isEmpty { gatewayCookies.removeAll(keepingCapacity: true) }
    method = .other
    query = 0..<0
    authority = 0..<0
    isAbsoluteForm = false
    isAsteriskForm = false
    framing = .none
    keepAlive = true
    expectsContinue = false
    wantsUpgrade = false
    nominatesFields = false
  }
}

extension RequestHead {
  /// The path with the query, which follows it.
  package var pathAndQuery: Range<Int> { path.lowerBound..<query.upperBound }

  /// Whether `Authorization` has a scheme by which a server may take its connection, and all later requests on it, for
  /// the user's: NTLM, and Negotiate, which may turn out to be NTLM. A proxy must not share such a connection between
  /// clients (RFC 4559, 6).
  package func authenticatesConnection(_ bytes: RawSpan) -> Bool {
    guard fields.has(.authorization) else { return false }
    for line in fields.lines where line.known == .authorization {
      if bytes.begins(with: "ntlm", line.value) || bytes.begins(with: "negotiate", line.value) { return true }
    }
    return false
  }
}

extension RawSpan {
  /// Whether `range` begins with `lowercase` without regard to ASCII case.
  fileprivate func begins(with lowercase: StaticString, _ range: Range<Int>) -> Bool {
    let count = lowercase.utf8CodeUnitCount
    return range.count >= count && equalsIgnoringCase(lowercase, range.lowerBound..<range.lowerBound + count)
  }
}

/// Framing of a request body (RFC 9112, 6.3).
@usableFromInline
package enum RequestFraming: Sendable, Equatable {
  /// No body.
  case none
  /// Exactly so many bytes, at least one.
  case length(Int)
  /// Chunks.
  case chunked
}
