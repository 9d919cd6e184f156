import NIOCore

@testable import HTTPWire

/// The result of a parse, as values that can be compared and kept: heads themselves cannot be copied.
struct ReadRequest: Equatable {
  var outcome: HeadParse
  var method = ""
  var kind = RequestHead.Method.other
  var target = ""
  var path = ""
  var query = ""
  var authority = ""
  var fields: [[String]] = []
  var lines: [FieldLine] = []
  var fieldsStart = 0
  var framing = RequestFraming.none
  var isHTTP11 = true
  var keepAlive = true
  var expectsContinue = false
  var wantsUpgrade = false
  var nominatesFields = false
  var isAbsoluteForm = false
  var isAsteriskForm = false
  var byteCount = 0
  var gatewayCookies: [[String]] = []
  /// The bytes of each own cookie with what would be left out around it.
  var ownCookieRuns: [String] = []

  var violation: HeadViolation? {
    if case .violation(let violation) = outcome { return violation }
    return nil
  }
}

let ordinaryLimits = HeadLimits(headBytes: 32_768, fieldCount: 100, targetBytes: 8_192)

func readRequest(_ text: String, limits: HeadLimits = ordinaryLimits) -> ReadRequest {
  readRequest(Array(text.utf8), limits: limits)
}

func readRequest(_ bytes: [UInt8], limits: HeadLimits = ordinaryLimits) -> ReadRequest {
  var head = RequestHead()
  return readRequest(bytes, into: &head, limits: limits)
}

/// Reads into a head that may have served before.
func readRequest(_ bytes: [UInt8], into head: inout RequestHead, limits: HeadLimits = ordinaryLimits) -> ReadRequest {
  let outcome = RequestHeadParser(limits: limits).parse(bytes.span.bytes, into: &head)
  return describe(outcome, bytes, &head)
}

/// The parts of a head in these bytes.
func describe(_ outcome: HeadParse, _ bytes: [UInt8], _ head: inout RequestHead) -> ReadRequest {
  let span = bytes.span.bytes
  var result = ReadRequest(outcome: outcome)
  guard result.outcome == .complete else { return result }
  GatewayCookies(name: "__Host-cordon").find(span, in: &head)
  result.method = span.string(head.methodRange)
  result.kind = head.method
  result.target = span.string(head.target)
  result.path = span.string(head.path)
  result.query = span.string(head.query)
  result.authority = span.string(head.authority)
  result.fields = head.fields.lines.map { [span.string($0.name), span.string($0.value)] }
  result.lines = head.fields.lines
  result.fieldsStart = head.fieldsStart
  result.framing = head.framing
  result.isHTTP11 = head.isHTTP11
  result.keepAlive = head.keepAlive
  result.expectsContinue = head.expectsContinue
  result.wantsUpgrade = head.wantsUpgrade
  result.nominatesFields = head.nominatesFields
  result.isAbsoluteForm = head.isAbsoluteForm
  result.isAsteriskForm = head.isAsteriskForm
  result.byteCount = head.byteCount
  result.gatewayCookies = head.gatewayCookies.map { [span.string($0.name), span.string($0.value)] }
  result.ownCookieRuns = head.gatewayCookies.map { span.string($0.whole) }
  return result
}

/// The same for a response.
struct ReadResponse {
  var outcome: HeadParse
  var status = 0
  var reason = ""
  var fields: [[String]] = []
  var announced = AnnouncedFraming.nothing
  var isHTTP11 = true
  var keepAlive = true
  var byteCount = 0
  /// The fields that `Connection` names.
  var nominations: [String] = []
  /// The framing of the body in the answer to GET and to HEAD.
  var framing = BodyFraming.none
  var framingToHead = BodyFraming.none
  var announcesStrayChunks = false

  var violation: HeadViolation? {
    if case .violation(let violation) = outcome { return violation }
    return nil
  }
}

func readResponse(
  _ text: String, limits: HeadLimits = ordinaryLimits, lenience: ResponseLenience = []
) -> ReadResponse {
  let bytes = Array(text.utf8)
  let span = bytes.span.bytes
  var head = ResponseHead()
  var result = ReadResponse(outcome: ResponseHeadParser(limits: limits, lenience: lenience).parse(span, into: &head))
  guard result.outcome == .complete else { return result }
  result.status = head.status
  result.reason = span.string(head.reason)
  result.fields = head.fields.lines.map { [span.string($0.name), span.string($0.value)] }
  result.announced = head.announced
  result.isHTTP11 = head.isHTTP11
  result.keepAlive = head.keepAlive
  result.byteCount = head.byteCount
  result.nominations = head.fields.nominations.map { span.string($0) }
  result.framing = head.framing(toHead: false)
  result.framingToHead = head.framing(toHead: true)
  result.announcesStrayChunks = head.announcesStrayChunks
  return result
}

/// The result of a body decoder for consecutive pieces.
struct DecodedBody: Equatable {
  var content: [UInt8] = []
  var trailers: [UInt8]?
  var violation: ChunkViolation?
  /// The bytes after the end of the body.
  var rest: [UInt8] = []

  var isComplete: Bool { trailers != nil }
}

func decode(
  _ pieces: [[UInt8]], _ framing: BodyFraming = .chunked, limits: ChunkLimits = ChunkLimits()
) -> DecodedBody {
  var decoder = BodyDecoder(framing, limits: limits)
  var result = DecodedBody()
  for piece in pieces {
    var buffer = ByteBuffer(bytes: piece)
    if result.isComplete {
      result.rest += piece
      continue
    }
    steps: while true {
      switch decoder.next(&buffer) {
      case .content(let count):
        guard let bytes = buffer.readBytes(length: count), count > 0 else { return result }
        result.content += bytes
      case .incomplete: break steps
      case .end(let trailers):
        result.trailers = trailers
        result.rest += Array(buffer.readableBytesView)
        break steps
      case .violation(let violation):
        result.violation = violation
        return result
      }
    }
  }
  return result
}
