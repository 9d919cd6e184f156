/// Detects whether a server speaks FastCGI: sends a request for its values, which an application server answers with a
/// record (FastCGI 1.0, 4.1), and which is not HTTP.
enum FastCGIProbe {
  /// FCGI_GET_VALUES for FCGI_MPXS_CONNS, without a line end, so that an HTTP server sees no request.
  static let question: [UInt8] =
    [1, 9, 0, 0, 0, 17, 7, 0, 15, 0] + Array("FCGI_MPXS_CONNS".utf8) + Array(repeating: 0, count: 7)

  /// Whether bytes are the beginning of an answer: FCGI_GET_VALUES_RESULT, or FCGI_UNKNOWN_TYPE, of no request. Nil if
  /// there are too few bytes.
  static func isAnswer(_ bytes: some Collection<UInt8>) -> Bool? {
    let head = Array(bytes.prefix(8))
    guard let version = head.first else { return nil }
    guard version == 1 else { return false }
    guard head.count == 8 else { return nil }
    return [10, 11].contains(head[1]) && head[2] == 0 && head[3] == 0
  }

  /// The question, and what tells its answer.
  static let probe = ServerProbe(question: question) { isAnswer($0) }
}
