/// Error codes of RFC 9113, 7.
package enum HTTP2ErrorCode: UInt32, Sendable {
  /// A graceful end.
  case noError = 0x0
  /// A violation of the protocol for which there is no other code.
  case protocolError = 0x1
  /// A failure of the sender itself.
  case internalError = 0x2
  /// More content than the window allows, or a window beyond 2^31 - 1 bytes.
  case flowControlError = 0x3
  /// A frame for a stream that its sender has ended.
  case streamClosed = 0x5
  /// A frame whose length its type does not allow.
  case frameSizeError = 0x6
  /// The request was not processed, and can be sent again (8.7).
  case refusedStream = 0x7
  /// The stream is no longer wanted.
  case cancel = 0x8
  /// A field section that HPACK cannot read: the state of the connection is lost.
  case compressionError = 0x9
  /// Too much load: see ``HTTP2Policy/resets`` and ``HTTP2Policy/idleFrames``.
  case enhanceYourCalm = 0xB
}
