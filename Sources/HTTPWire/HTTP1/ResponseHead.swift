/// A parsed response head: ranges in its bytes.
@usableFromInline
package struct ResponseHead: ~Copyable, Sendable {
  /// 100 to 599; up to 999 where ``ResponseLenience/statusRange`` is allowed.
  @usableFromInline package var status = 0
  /// The reason phrase; may be empty.
  package var reason: Range<Int> = 0..<0
  /// Whether the server speaks HTTP/1.1 rather than 1.0.
  package var isHTTP11 = true
  /// Its fields, in the order received.
  package var fields = FieldTable()
  /// Framing of the body by the fields alone, before method and status are considered.
  @usableFromInline package var announced: AnnouncedFraming = .nothing
  /// Whether the server keeps this connection.
  package var keepAlive = true
  /// Whether `Connection` nominates a field other than the usual ones.
  package var nominatesFields = false
  /// Bytes of the whole head with the empty line after it.
  package var byteCount = 0
  /// Offset of the fields.
  package var fieldsStart = 0

  /// An empty head, for a parser to fill.
  package init() {}

  /// Whether this is an interim response (RFC 9110, 15.2), other than the switch of protocols.
  @inlinable @inline(__always)
  package var isInterim: Bool { status < 200 && status != 101 }

  /// Whether a 204 or 304 announces chunks, of which it has none (RFC 9112, 6.1 and 6.3). Its server may send the last
  /// one all the same, behind the head: the next response on the connection would begin with it.
  package var announcesStrayChunks: Bool { (status == 204 || status == 304) && announced == .chunked }

  /// Framing of the body in the response to a request that was (or was not) HEAD (RFC 9112, 6.3).
  @inlinable @inline(__always)
  package func framing(toHead: Bool) -> BodyFraming {
    if toHead || status < 200 || status == 204 || status == 304 { return .none }
    return switch announced {
    case .nothing: .untilClose
    case .length(let length): length == 0 ? .none : .length(length)
    case .chunked: .chunked
    }
  }

  mutating func reset() {
    fields.removeAll()
    announced = .nothing
    nominatesFields = false
  }
}
