internal import HTTPTypes
internal import HTTPWire

/// The gateway's own errors as a gRPC client reads them: HTTP 200 with `grpc-status` in the head and no content
/// ("trailers-only"), as gRPC's mapping of HTTP statuses has it.
enum GRPCStatus {
  /// Whether a request is a call: its `Content-Type` is `application/grpc` or one of its kinds (`+proto`, `-web`).
  static func isCall(_ fields: borrowing FieldTable, _ bytes: RawSpan) -> Bool {
    for line in fields.lines where Int(line.nameLength) == "content-type".utf8.count {
      guard bytes.equalsIgnoringCase("content-type", line.name) else { continue }
      let start = line.value.lowerBound
      let end = start + "application/grpc".utf8.count
      guard end <= line.value.upperBound, bytes.equalsIgnoringCase("application/grpc", start..<end) else {
        return false
      }
      // A plus, a hyphen, a parameter: not the letter of a longer word.
      return end == line.value.upperBound || [0x2B, 0x2D, 0x3B, 0x20].contains(bytes.byte(at: end))
    }
    return false
  }

  /// The code for an HTTP status of an error.
  static func code(_ status: Int) -> Int {
    switch status {
    case 400: 13  // INTERNAL
    case 401: 16  // UNAUTHENTICATED
    case 403: 7  // PERMISSION_DENIED
    case 404: 12  // UNIMPLEMENTED
    case 408: 4  // DEADLINE_EXCEEDED
    case 429, 502, 503, 504: 14  // UNAVAILABLE
    default: 2  // UNKNOWN
    }
  }

  /// The gRPC response that corresponds to `response`; a response that is not an error is returned as it is.
  static func answer(_ response: ControlResponse) -> ControlResponse {
    let status = response.head.status
    guard status.code >= 400 else { return response }
    var fields = HTTPFields()
    fields[.contentType] = "application/grpc"
    for (name, value) in [("grpc-status", String(code(status.code))), ("grpc-message", "HTTP \(status.code)")] {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    return ControlResponse(.ok, fields: fields)
  }
}
