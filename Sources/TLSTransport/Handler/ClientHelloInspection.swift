import NIOCore

/// Inspects the bytes of a client before OpenSSL gets them, until the server has answered them: whether they are TLS at
/// all (``PlainHTTPDetector``), and whether a ClientHello is too long (``ClientHelloLimit``).
///
/// A class, so that an open connection reserves no room for one.
final class ClientHelloInspection {
  enum Outcome {
    /// More bytes are needed; those passed so far are buffered.
    case undecided
    /// All bytes so far that OpenSSL has not got, for OpenSSL.
    case admitted(ByteBuffer)
    /// A plain HTTP request.
    case http
    /// A ClientHello that is too long, or another message with it.
    case tooLong
  }

  /// Takes over the connection of a client that speaks plain HTTP; nil sends it an alert and closes.
  let onPlainHTTP: ((any Channel) -> Void)?
  /// Nil once the first bytes are TLS, or something else that OpenSSL has to refuse.
  private var detector: PlainHTTPDetector? = PlainHTTPDetector()
  private var limit: ClientHelloLimit

  /// - Parameter takesLongTickets: whether tickets of the server may be longer than all else together.
  init(takesLongTickets: Bool, onPlainHTTP: ((any Channel) -> Void)?) {
    limit = ClientHelloLimit(takesLongTickets: takesLongTickets)
    self.onPlainHTTP = onPlainHTTP
  }

  func inspect(_ bytes: ByteBuffer) -> Outcome {
    var admitted = bytes
    switch detector?.inspect(bytes) {
    case nil: break
    case .undecided?: return .undecided
    case .http?: return .http
    case .other(let all)?:
      detector = nil
      admitted = all
    }
    return limit.admits(admitted) ? .admitted(admitted) : .tooLong
  }

  /// Whether the ClientHello is complete: what follows belongs to the server's answer.
  var isWhole: Bool { limit.isWhole }

  /// Expects the second ClientHello, after a HelloRetryRequest.
  func expectAnother() { limit.expectAnother() }
}
