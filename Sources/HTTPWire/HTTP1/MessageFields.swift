/// Framing of a body by the fields of its head (RFC 9112, 6.3), before method and status are considered.
@usableFromInline
package enum AnnouncedFraming: Sendable, Equatable {
  /// Neither `Content-Length` nor `Transfer-Encoding`.
  case nothing
  /// The number of `Content-Length`, which may be zero.
  case length(Int)
  /// `Transfer-Encoding: chunked`.
  case chunked
}

/// The options in the `Connection` lines of a head (RFC 9110, 7.6.1).
struct ConnectionOptions {
  var close = false
  var keepAlive = false
  var upgrade = false
  /// Whether fields are nominated, other than the usual ones.
  var nominates = false

  /// The most fields that a message may nominate: each of its fields is compared with each of them.
  static let nominationLimit = 64

  /// Whether the connection is kept after the message (RFC 9112, 9.3).
  func persists(isHTTP11: Bool) -> Bool { !close && (isHTTP11 || keepAlive) }
}

extension FieldTable {
  /// The framing of the body; refused wherever two readers could disagree about it.
  @inline(__always)
  func announcedFraming(_ bytes: RawSpan, isHTTP11: Bool) throws(HeadViolation) -> AnnouncedFraming {
    if let encoding = line(.transferEncoding) {
      guard isHTTP11 else { throw .encodingVersion }
      // Both together are an attempt to make two readers disagree about the end of the message (RFC 9112, 6.3, 11.2).
      if has(.contentLength) { throw .lengthAndEncoding }
      guard !isRepeated(.transferEncoding), bytes.isPlainlyEnded(encoding),
        bytes.equalsIgnoringCase("chunked", encoding.value)
      else { throw otherCodings(bytes) }
      return .chunked
    }
    guard let line = line(.contentLength) else { return .nothing }
    guard !isRepeated(.contentLength), bytes.isPlainlyEnded(line), let length = bytes.decimal(line.value) else {
      throw .contentLength
    }
    return .length(length)
  }

  /// The violation of transfer codings other than chunked alone: without chunked as the last coding the end of the
  /// message is unknown (RFC 9112, 6.3), and it must not come twice (6.1).
  private func otherCodings(_ bytes: RawSpan) -> HeadViolation {
    var (count, isLast) = (0, false)
    for line in lines where line.known == .transferEncoding {
      bytes.forEachListElement(line.value) { coding in
        isLast = bytes.equalsIgnoringCase("chunked", coding)
        if isLast { count += 1 }
      }
    }
    return isLast && count == 1 ? .transferEncoding : .encodingNotChunked
  }

  /// The combined options of the `Connection` lines. Records the names of nominated fields.
  @inline(__always)
  mutating func connectionOptions(_ bytes: RawSpan) throws(HeadViolation) -> ConnectionOptions {
    var options = ConnectionOptions()
    guard has(.connection) else { return options }
    var isBeyondLimit = false
    for line in lines where line.known == .connection {
      bytes.forEachListElement(line.value) { element in
        if bytes.equalsIgnoringCase("keep-alive", element) {
          options.keepAlive = true
        } else if bytes.equalsIgnoringCase("close", element) {
          options.close = true
        } else if bytes.equalsIgnoringCase("upgrade", element) {
          options.upgrade = true
        } else if nominations.count < ConnectionOptions.nominationLimit {
          nominations.append(element)
        } else {
          isBeyondLimit = true
        }
      }
    }
    if isBeyondLimit { throw .tooManyNominations }
    options.nominates = !nominations.isEmpty
    return options
  }
}
