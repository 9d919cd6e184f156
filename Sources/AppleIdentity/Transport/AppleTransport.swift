package import HTTPTypes

/// The only dependency of this module: sends a request to Apple and returns the response.
///
/// The transport owns the connection, the certificate check, the total time-out (10 s or more: answers slower than 2 s
/// are normal) and the bound on the body. It follows no redirect. A response of any status is a result: only a missing
/// response is an error.
package typealias AppleTransport =
  @Sendable (AppleHTTPRequest) async throws(AppleTransportError) -> AppleHTTPResponse

/// A request for Apple. The head holds method, scheme, authority and path; the body is complete.
///
/// The body carries the client secret and often a code or a refresh token, so a description shows only its
/// destination.
package struct AppleHTTPRequest: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Method, address and header fields.
  package var head: HTTPRequest
  /// The body, as a whole.
  package var body: [UInt8]

  /// A request with its whole body.
  package init(head: HTTPRequest, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }

  package var description: String {
    "\(head.method.rawValue) \(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
  }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Apple's HTTP response. The body is complete, and the transport limits its size.
///
/// The body may carry tokens, so a description shows the status only.
package struct AppleHTTPResponse: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The status code of the final response.
  package var status: Int
  /// The field `Content-Type`, if there was one.
  package var contentType: String?
  /// The field `Date` as Apple sent it, for comparing clocks.
  package var date: String?
  /// The field `Retry-After` as Apple sent it.
  package var retryAfter: String?
  /// The body, as a whole.
  package var body: [UInt8]

  /// An answer with its whole body.
  package init(
    status: Int, contentType: String? = nil, date: String? = nil, retryAfter: String? = nil, body: [UInt8] = []
  ) {
    self.status = status
    self.contentType = contentType
    self.date = date
    self.retryAfter = retryAfter
    self.body = body
  }

  package var description: String { "status \(status), \(body.count) bytes" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The reason why there is no response. The difference decides whether a check may be tried again: Apple allows one a
/// day.
package enum AppleTransportError: Error, Sendable, Equatable {
  /// The request cannot have reached Apple: the name was not found, the connection was refused, the handshake failed.
  case notSent(reason: String)
  /// The request may have reached Apple: a time-out, or a connection that broke before the answer was complete.
  case unanswered(reason: String)
}
