/// Limits of one HTTP/2 connection: all numbers of the policy.
///
/// nghttp2 1.52 enforces the protocol; ``HTTP2Session`` enforces what it leaves to its user: the size of field
/// sections, and the amount of useless work that a peer may cause.
package struct HTTP2Policy: Sendable, Equatable {
  /// Limits of one head, as for HTTP/1.1. Beyond them: 431 or 414.
  package var heads: HeadLimits
  /// Streams at a time (SETTINGS_MAX_CONCURRENT_STREAMS). Default: 100. One beyond is refused (REFUSED_STREAM).
  package var concurrentStreams: UInt32 = 100
  /// Additional streams for tunnels: announced as tunnels open, so that a page that keeps WebSockets open still gets
  /// responses. Default: 100.
  package var tunnelStreams: UInt32 = 100
  /// Step by which the announced streams are raised, to save a SETTINGS frame for each tunnel. Default: 20.
  package var tunnelStep: UInt32 = 20
  /// Bytes that a stream may send before they are taken (SETTINGS_INITIAL_WINDOW_SIZE). Default: 131,072.
  package var streamWindow: UInt32 = 131_072
  /// Bytes that the window of an upload grows to while all of it is taken: a window is what a client can send in one
  /// round trip. Default: 524,288.
  package var widestStreamWindow = 524_288
  /// Bytes by which the windows of all uploads together grow. Default: 393,216, which one needs for its widest. With
  /// more, two uploads that stall could hold the whole window of the connection, and nothing else could have a body.
  package var windowGrowth = 393_216
  /// Bytes that all streams together may send before they are taken: what one client can make us hold of its bodies.
  /// Default: 1,048,576. A server's connection has fewer until it is widened.
  package var connectionWindow: Int32 = 1_048_576
  /// Bytes of responses that wait for one client. Default: 1,048,576. Beyond it the application is read only for
  /// streams of which nothing waits: a client that takes nothing makes us hold so much, and what one read brings for
  /// each stream. All connections together have a limit besides, which is not this module's.
  package var queuedBytes = 1_048_576
  /// Bytes of names and values of one field section as HPACK unpacks it. Default: 262,144. A section beyond it has cost
  /// too much already: the connection ends.
  package var sectionBytes = 262_144
  /// Fields of one section. Default: 2,000. Then the connection ends.
  package var sectionFields = 2_000
  /// Bytes of names and values of the interim heads of one response, as HPACK unpacks them. Default: 4,194,304: twice
  /// as much as the 32 largest, and 400 bytes each of 10,000. Beyond it the connection ends.
  package var interimBytes = 4_194_304
  /// Bytes of a client's trailer section. Default: 8,192, as for HTTP/1.1. Beyond: the stream is reset.
  package var trailerBytes = 8_192
  /// Fields of a client's trailer section. Default: 32, as for HTTP/1.1. Beyond: the stream is reset.
  package var trailerFields = 32
  /// Streams that end before their response does: reset by the client ("rapid reset", CVE-2023-44487), or by us because
  /// of what the client did ("made you reset", CVE-2025-8671). Default: a burst of 500 (a page with many images,
  /// reloaded several times), then 50 per second. Each completely sent response returns one token. After the first
  /// reset, requests of a read are not authorized before the whole read is processed.
  package var resets = Allowance(atOnce: 500, perSecond: 50)
  /// Frames that carry nothing: SETTINGS, PING, PRIORITY, WINDOW_UPDATE, CONTINUATION, DATA that is empty or all
  /// padding, HEADERS for a closed stream. Reads that contain only unknown frames, or DATA for closed streams beyond
  /// what may have been under way when they were closed, cost one token per KiB. Each request, and each frame with
  /// content in either direction, returns two tokens; content that we send returns one per 512 bytes. Default: a burst
  /// of 1,000, then 100 per second.
  package var idleFrames = Allowance(atOnce: 1_000, perSecond: 100)

  /// Bytes that HPACK may make, at most, of a field section that is sent. Default: 262,144: a response head of 64 KiB
  /// leaves whatever its fields.
  static let sentSectionBytes = 262_144

  /// Towards clients: the defaults, with the limits of heads that HTTP/1.1 has.
  package init(heads: HeadLimits) { self.heads = heads }

  /// Towards an application: its trailers have the limits of its heads.
  package init(applicationHeads heads: HeadLimits) {
    self.heads = heads
    trailerBytes = heads.headBytes
    trailerFields = heads.fieldCount
  }

  /// A token bucket. When empty: GOAWAY with ENHANCE_YOUR_CALM.
  package struct Allowance: Sendable, Equatable {
    /// The size of the bucket, which is full at first.
    package var atOnce: Int
    /// The tokens added each second.
    package var perSecond: Int

    /// A full bucket.
    package init(atOnce: Int, perSecond: Int) {
      self.atOnce = atOnce
      self.perSecond = perSecond
    }
  }
}
