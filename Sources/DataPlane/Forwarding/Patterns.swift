internal import HTTPWire

// Questions about values of HTTPWire that every message asks. Each is a pattern, one instruction: `==` of a type of
// another module is called through a witness table.

extension KnownField {
  @inline(__always)
  var isContentLength: Bool { if case .contentLength = self { true } else { false } }
}

extension RequestFraming {
  @inline(__always)
  var isNone: Bool { if case .none = self { true } else { false } }
  @inline(__always)
  var isChunked: Bool { if case .chunked = self { true } else { false } }
}

extension BodyFraming {
  @inline(__always)
  var isNone: Bool { if case .none = self { true } else { false } }
  @inline(__always)
  var isChunked: Bool { if case .chunked = self { true } else { false } }
  @inline(__always)
  var isUntilClose: Bool { if case .untilClose = self { true } else { false } }
}

extension RequestHead.Method {
  @inline(__always)
  var isHead: Bool { if case .head = self { true } else { false } }
  @inline(__always)
  var isPost: Bool { if case .post = self { true } else { false } }
}
