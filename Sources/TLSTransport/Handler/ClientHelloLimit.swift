import NIOCore

/// Limits the size of a ClientHello (RFC 8446, 4.1.2) before OpenSSL gets its bytes: ``bytes`` at most.
///
/// OpenSSL takes one of 131,396 bytes, and before its releases of June 2026 (pull request 30792) allocated as much as
/// soon as it had read the message's header: by nine bytes a client held far more memory than is counted for a
/// handshake. BoringSSL has the same limit as this. Only a session ticket can make the hello of a client longer: one of
/// a server that asks for certificates carries the client's.
///
/// Reads the records (RFC 8446, 5.1) of the first message, and of the second one after a HelloRetryRequest. A client
/// that sends a further handshake message before it has the answer to the first is refused, because OpenSSL would read
/// that together with the first, past the limit. Early data and a change_cipher_spec may follow at once.
struct ClientHelloLimit {
  /// The longest message without its header, and without a long ticket: 16 KiB.
  static let bytes = 16_384
  /// The longest ticket (RFC 8446, 4.6.1).
  private static let ticketBytes = 65_535

  private let limit: Int

  /// Whether the message is complete. What follows belongs to the server's answer.
  private(set) var isWhole = false

  /// The bytes of a record's header that have been read, and their number.
  private var recordHeader: (value: UInt64, count: Int) = (0, 0)
  private var recordBytesLeft = 0
  private var isHandshakeRecord = false
  /// The bytes of the message's header that have been read, and their number.
  private var messageHeader: (value: UInt32, count: Int) = (0, 0)
  private var messageBytesLeft = 0

  private static let recordHeaderLength = 5
  private static let messageHeaderLength = 4
  /// The type of records with handshake messages.
  private static let handshake: UInt64 = 22
  private static let recordTypes: ClosedRange<UInt64> = 20...23

  /// - Parameter takesLongTickets: whether tickets of the server may be longer than all else together.
  init(takesLongTickets: Bool) { limit = Self.bytes + (takesLongTickets ? Self.ticketBytes : 0) }

  /// Expects the second ClientHello, after a HelloRetryRequest.
  mutating func expectAnother() {
    isWhole = false
    messageHeader = (0, 0)
  }

  /// Whether OpenSSL may get these bytes, which follow those before.
  mutating func admits(_ buffer: ByteBuffer) -> Bool {
    let view = buffer.readableBytesView
    var index = view.startIndex
    while index < view.endIndex {
      if recordBytesLeft == 0 {
        guard readRecordHeader(view[index]) else { return false }
        index += 1
      } else if !isHandshakeRecord {
        let count = min(view.endIndex - index, recordBytesLeft)
        recordBytesLeft -= count
        index += count
      } else if isWhole {
        return false
      } else if messageHeader.count < Self.messageHeaderLength {
        guard readMessageHeader(view[index]) else { return false }
        recordBytesLeft -= 1
        index += 1
      } else {
        let count = min(view.endIndex - index, recordBytesLeft, messageBytesLeft)
        recordBytesLeft -= count
        messageBytesLeft -= count
        index += count
        isWhole = messageBytesLeft == 0
      }
    }
    return true
  }

  /// - Returns: false for the header of a record that the client may not send yet.
  private mutating func readRecordHeader(_ byte: UInt8) -> Bool {
    recordHeader = (recordHeader.value << 8 | UInt64(byte), recordHeader.count + 1)
    guard recordHeader.count == Self.recordHeaderLength else { return true }
    // Type, two bytes of version, two bytes of length.
    let type = recordHeader.value >> 32
    recordBytesLeft = Int(recordHeader.value & 0xFFFF)
    recordHeader = (0, 0)
    isHandshakeRecord = type == Self.handshake
    guard !isHandshakeRecord || !isWhole else { return false }
    // Anything else is not TLS, or a ClientHello in the form of SSL 2, which is no larger than a record.
    if !Self.recordTypes.contains(type) { isWhole = true }
    return true
  }

  /// - Returns: false for the header of a message that is too long.
  private mutating func readMessageHeader(_ byte: UInt8) -> Bool {
    messageHeader = (messageHeader.value << 8 | UInt32(byte), messageHeader.count + 1)
    guard messageHeader.count == Self.messageHeaderLength else { return true }
    // Type, three bytes of length.
    messageBytesLeft = Int(messageHeader.value & 0xFF_FFFF)
    isWhole = messageBytesLeft == 0
    return messageBytesLeft <= limit
  }
}
