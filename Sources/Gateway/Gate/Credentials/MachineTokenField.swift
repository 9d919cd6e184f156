internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Sessions
internal import WebFormats

/// The machine token in the `Authorization` fields of a request: `Bearer cdn_…` (RFC 6750, 2.1), or `Basic` with the
/// user `token` and the token as password (RFC 7617).
///
/// Whatever might be one of our tokens is recognized, so that none reaches an application: a `Bearer` or `token`'s
/// `Basic` credential with the prefix, and a text in the shape of a token under any other scheme or user.
enum MachineTokenField {
  /// No token: the request is authorized by its session.
  case absent
  /// A text that has the prefix and the length of a token.
  case token(MachineTokenValue)
  /// Several fields of which one holds a token, or a token in a wrong form.
  case malformed

  /// Reads a request's fields.
  @inline(__always)
  static func find(_ head: borrowing RequestHead, _ bytes: RawSpan) -> MachineTokenField {
    head.fields.has(.authorization) ? read(head, bytes) : .absent
  }

  private static func read(_ head: borrowing RequestHead, _ bytes: RawSpan) -> MachineTokenField {
    for line in head.fields.lines where line.known == .authorization {
      let found = read(bytes, line.value)
      if case .absent = found { continue }
      return head.fields.isRepeated(.authorization) ? .malformed : found
    }
    return .absent
  }

  /// Reads the fields of a request to an endpoint.
  static func find(_ request: ControlRequest) -> MachineTokenField {
    let values = request.head.headerFields[values: .authorization]
    for value in values {
      let bytes = Array(value.utf8)
      let found = read(bytes.span.bytes, bytes.indices)
      if case .absent = found { continue }
      return values.count > 1 ? .malformed : found
    }
    return .absent
  }

  /// Whether a request to an endpoint carries a token, in whatever form.
  static func isCarried(by request: ControlRequest) -> Bool {
    if case .absent = find(request) { false } else { true }
  }

  /// Reads one field value.
  static func read(_ bytes: RawSpan, _ value: Range<Int>) -> MachineTokenField {
    let (scheme, credential) = AuthorizationField.split(bytes, value)
    let (schemeEnd, start) = (scheme.upperBound, credential.lowerBound)
    if bytes.equalsIgnoringCase("basic", scheme) {
      // Also as it is, by a client that has forgotten to encode it.
      if hasUnencodedToken(bytes, credential) { return .malformed }
      return basic(bytes.extracting(credential))
    }
    if hasPrefix(bytes, scheme.lowerBound..<value.upperBound) { return .malformed }
    guard hasPrefix(bytes, start..<value.upperBound) else { return .absent }
    guard bytes.equalsIgnoringCase("bearer", scheme) else {
      return isShaped(bytes, start..<value.upperBound) ? .malformed : .absent
    }
    let isDelimitedBySpaces = (schemeEnd..<start).allSatisfy { bytes.byte(at: $0) == UInt8(ascii: " ") }
    guard isDelimitedBySpaces, value.upperBound - start == MachineTokenText.length else { return .malformed }
    return .token(MachineTokenValue(bytes, at: start))
  }

  /// Whether a credential, or its part after a colon, is a token that was not encoded.
  private static func hasUnencodedToken(_ bytes: RawSpan, _ credential: Range<Int>) -> Bool {
    var start = credential.lowerBound
    while start < credential.upperBound {
      if hasPrefix(bytes, start..<credential.upperBound), isShaped(bytes, start..<credential.upperBound) { return true }
      while start < credential.upperBound, bytes.byte(at: start) != UInt8(ascii: ":") { start += 1 }
      start += 1
    }
    return false
  }

  /// Bytes of decoded `Basic` credentials that are looked at: longer ones can hold no token as password of `token`.
  private static let basicLimit = 512

  private static func basic(_ encoded: RawSpan) -> MachineTokenField {
    withUnsafeTemporaryAllocation(byteCount: basicLimit, alignment: 8) { buffer in
      var count = 0
      let isWhole = Base64.decode(encoded) { byte in
        if count < basicLimit { buffer[count] = byte }
        count += 1
      }
      let decoded = UnsafeRawBufferPointer(rebasing: buffer[..<min(count, basicLimit)]).bytes
      return basic(decoded, isWhole: isWhole && count <= basicLimit)
    }
  }

  /// - Parameter decoded: user, colon and password.
  private static func basic(_ decoded: RawSpan, isWhole: Bool) -> MachineTokenField {
    let end = decoded.byteCount
    var start = 0
    while start < end {
      let part = start..<end
      let isPasswordOfToken = start == 6 && decoded.equals("token:", 0..<6)
      if hasPrefix(decoded, part), isPasswordOfToken || isShaped(decoded, part) {
        guard isPasswordOfToken, isWhole, part.count == MachineTokenText.length else { return .malformed }
        return .token(MachineTokenValue(decoded, at: start))
      }
      while start < end, decoded.byte(at: start) != UInt8(ascii: ":") { start += 1 }
      start += 1
    }
    return .absent
  }

  private static func hasPrefix(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    range.count >= 4 && bytes.equals("cdn_", range.lowerBound..<range.lowerBound + 4)
  }

  /// Whether a text with the prefix goes on as a token does.
  private static func isShaped(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    guard range.count >= MachineTokenText.length else { return false }
    return (range.lowerBound..<range.lowerBound + MachineTokenText.length).allSatisfy { index in
      let byte = bytes.byte(at: index)
      return byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
  }
}
