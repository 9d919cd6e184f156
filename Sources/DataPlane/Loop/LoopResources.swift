internal import HTTPWire
internal import NIOCore

/// The resources that all connections of one event loop share. Used on that loop only.
final class LoopResources {
  let eventLoop: any EventLoop
  let wheel: TimerWheel
  let descriptors: DescriptorBudget
  /// Memory held for incomplete requests and handshakes, bodies for endpoints included.
  let incompleteRequests: IncompleteRequestBudget
  /// Memory held for bodies that are collected for applications which need their length.
  let collectedBodies: IncompleteRequestBudget
  /// Memory held for responses over HTTP/2 that clients do not read.
  let unsent: ContentBudget
  /// Memory held for request bodies over HTTP/2 that applications do not read.
  let unread: ContentBudget
  var buffers = BufferPool.messages
  /// Buffers for the heads of requests, kept for a retry until the application answers.
  var heads = BufferPool.heads
  /// Buffers for the frames of HTTP/2 connections.
  var frames = BufferPool.frames
  var requestIDs = RequestIDSource()
  var date = DateLine()
  /// The request head that is being read or forwarded at the moment.
  var requestHead = RequestHead()
  /// The response head that is being read or forwarded at the moment.
  var responseHead = ResponseHead()
  /// When the response bytes that are being handed on were read: looking at the clock for each of a response's steps
  /// would cost as much as reading its head.
  var responseRead = NIODeadline.distantPast
  /// The fields that are being written at the moment, for HTTP/2.
  var fields = HTTP2Fields()
  /// Response heads may be larger than request heads: applications set many cookies. 64 KiB, 1,000 fields.
  static let responseHeads = HeadLimits(headBytes: 65_535, fieldCount: 1_000, targetBytes: 0)
  let responseParser = ResponseHeadParser(limits: responseHeads)
  /// Request heads that the gateway has written, when it reads them again: the fields that it adds come on top of the
  /// limits for clients.
  static let sentHeads = HeadLimits(headBytes: 65_535, fieldCount: maximumFieldCount, targetBytes: 65_535)

  /// - Parameter loops: the number of event loops that share the limits of the process.
  init(eventLoop: any EventLoop, descriptors: DescriptorBudget = .process, loops: Int = 1) {
    self.eventLoop = eventLoop
    self.descriptors = descriptors
    // Never less than a few whole heads or responses.
    let requests = max(IncompleteRequestBudget.processLimit / loops, 1 << 20)
    incompleteRequests = IncompleteRequestBudget(limit: requests)
    collectedBodies = IncompleteRequestBudget(limit: requests)
    let content = max(ContentBudget.processLimit / loops, 4 << 20)
    unsent = ContentBudget(.unsentResponses, limit: content)
    unread = ContentBudget(.unreadBodies, limit: content)
    wheel = TimerWheel(eventLoop: eventLoop)
  }

  /// The `Date` line that a response of the upstream lacks, nil where it has one: a recipient with a clock adds it
  /// (RFC 9110, 6.6.1).
  @inline(__always)
  func missingDate(of head: borrowing ResponseHead) -> [UInt8]? {
    head.fields.has(.date) || head.status == 101 ? nil : date.bytes()
  }
}
