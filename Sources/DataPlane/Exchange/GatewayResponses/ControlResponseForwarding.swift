internal import HTTPTypes
internal import HTTPWire
internal import NIOCore

/// Writes a response of the control plane as a client gets it.
enum ControlResponseForwarding {
  /// - Parameter connection: the `Connection` field. The gateway itself switches no protocols.
  static func write(
    _ response: ControlResponse, withoutBody: Bool, connection: ResponseForwarding.Connection,
    requestID: RequestIDSource.Identifier, date: [UInt8], to buffer: inout ByteBuffer
  ) {
    let status = response.head.status
    buffer.writeStaticString("HTTP/1.1 ")
    buffer.writeString(String(status.code))
    buffer.writeStaticString(" ")
    buffer.writeString(status.reasonPhrase.isEmpty ? ReasonPhrase.of(status.code) : status.reasonPhrase)
    buffer.writeStaticString("\r\n")
    for field in response.head.headerFields where field.name != .contentLength && field.name != .connection {
      buffer.writeString(field.name.rawName)
      buffer.writeStaticString(": ")
      // HTTPField has made sure that no value holds CR, LF or NUL.
      field.withUnsafeBytesOfValue { _ = buffer.writeBytes($0) }
      buffer.writeStaticString("\r\n")
    }
    if status.code != 204, status.code != 304 {
      buffer.writeStaticString("Content-Length: ")
      buffer.writeString(String(response.body.count))
      buffer.writeStaticString("\r\n")
    }
    buffer.writeBytes(date)
    buffer.writeStaticString("X-Request-Id: ")
    requestID.write(to: &buffer)
    buffer.writeStaticString("\r\n")
    switch connection {
    case .close: buffer.writeStaticString("Connection: close\r\n")
    case .keepAlive: buffer.writeStaticString("Connection: keep-alive\r\n")
    case .implied, .upgrade: break
    }
    buffer.writeStaticString("\r\n")
    if !withoutBody, status.code != 204, status.code != 304 { buffer.writeBytes(response.body) }
  }
}

extension ControlResponseForwarding {
  /// The same for an HTTP/2 client, without the body.
  static func write(
    _ response: ControlResponse, requestID: RequestIDSource.Identifier, date: [UInt8], to fields: inout HTTP2Fields
  ) {
    let status = response.head.status.code
    fields.begin(status: status)
    for field in response.head.headerFields where field.name != .contentLength && field.name != .connection {
      field.withUnsafeBytesOfValue { fields.append(name: field.name.rawName, bytes: UnsafeRawBufferPointer($0)) }
    }
    if status != 204, status != 304 {
      fields.append(name: "content-length", value: String(response.body.count))
    }
    fields.append(lines: date)
    fields.append(name: "x-request-id", value: requestID.description)
  }
}

extension ResponseHeaders {
  /// Adds those that a response of the gateway's own does not have. None is for caches: a page that must not be kept
  /// could last in one that heeds such a field before `Cache-Control`.
  func add(to response: inout ControlResponse) {
    for field in fields where !field.isForCaches {
      guard let name = HTTPField.Name(field.name), response.head.headerFields[name] == nil else { continue }
      response.head.headerFields[name] = field.value
    }
  }
}

/// The reason phrases of RFC 9110, 15, of the statuses that the gateway sends by number.
private enum ReasonPhrase {
  static func of(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 302: "Found"
    case 303: "See Other"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 411: "Length Required"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: ""
    }
  }
}
