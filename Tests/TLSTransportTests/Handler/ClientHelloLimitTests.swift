import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("The size of a ClientHello")
struct ClientHelloLimitTests {
  /// A record of handshake messages.
  private static func record(_ payload: [UInt8], type: UInt8 = 22) -> [UInt8] {
    [type, 3, 1, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)] + payload
  }

  /// The header of a ClientHello that announces so many bytes.
  private static func header(_ length: Int) -> [UInt8] {
    [1, UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
  }

  /// Whether all of some pieces are admitted, and whether the message is whole then.
  private static func judge(
    _ pieces: [[UInt8]], isSecond: Bool = false, takesLongTickets: Bool = false
  ) -> (isAdmitted: Bool, isWhole: Bool) {
    var limit = ClientHelloLimit(takesLongTickets: takesLongTickets)
    if isSecond {
      guard limit.admits(ByteBuffer(bytes: record(header(1) + [7]))), limit.isWhole else { return (false, false) }
      limit.expectAnother()
    }
    for piece in pieces where !limit.admits(ByteBuffer(bytes: piece)) { return (false, limit.isWhole) }
    return (true, limit.isWhole)
  }

  @Test("A ClientHello with a long ticket is admitted where tickets carry the certificates of clients")
  func longTicket() {
    for (length, isAdmitted) in [(16_385, true), (81_919, true), (81_920, false), (131_396, false)] {
      let judgement = Self.judge([Self.record(Self.header(length))], takesLongTickets: true)
      #expect(judgement.isAdmitted == isAdmitted, "\(length)")
    }
  }

  @Test("A ClientHello of 16 KiB is admitted, and a longer one refused at its header, however the header is cut")
  func announced() {
    for (length, isAdmitted) in [(0, true), (512, true), (16_384, true), (16_385, false), (131_396, false)] {
      let header = Self.header(length)
      for shape in [Self.record(header), header.flatMap { Self.record([$0]) }] {
        for pieces in [[shape], shape.map { [$0] }] {
          let judgement = Self.judge(pieces)
          #expect(judgement.isAdmitted == isAdmitted, "\(length) in \(pieces.count) pieces")
          #expect(judgement.isWhole == (length == 0))
        }
      }
    }
  }

  @Test("A handshake message before the answer is refused; early data and a change_cipher_spec are not")
  func ahead() {
    let hello = Self.header(3) + [7, 7, 7]
    let nexts: [(bytes: [UInt8], isAdmitted: Bool)] = [
      (Self.record([1], type: 20), true), (Self.record([UInt8](repeating: 0, count: 300), type: 23), true),
      (Self.record(Self.header(131_396)), false), (Self.record([1], type: 20) + Self.record([1]), false),
    ]
    for next in nexts {
      let judgement = Self.judge([Self.record(hello) + next.bytes])
      #expect(judgement.isAdmitted == next.isAdmitted)
      #expect(judgement.isWhole)
    }
    let joined = Self.judge([Self.record(hello + [1])])
    #expect(!joined.isAdmitted)
  }

  @Test("The second one, after a HelloRetryRequest, has the same limit")
  func second() {
    for (length, isAdmitted) in [(16_384, true), (16_385, false)] {
      let bytes = Self.record([1], type: 20) + Self.record(Self.header(length))
      let judgement = Self.judge([bytes], isSecond: true)
      #expect(judgement.isAdmitted == isAdmitted, "\(length)")
      #expect(!judgement.isWhole)
    }
  }

  private static func isRefused(_ server: Endpoint) -> Bool {
    guard case .protocolViolation? = server.log.errors.first else { return false }
    return server.log.errors.count == 1 && !server.channel.isActive
  }

  @Test("A server refuses the header of one that is too large without waiting for the rest")
  func server() throws {
    let server = try Endpoint(.server(TestCertificates.valid, []))
    try server.activate()
    try server.receive(ByteBuffer(bytes: Self.record(Self.header(16_385))))
    #expect(Self.isRefused(server), "\(server.log.events)")
  }

  @Test("A server that asks for a second one takes that, and refuses it as well if it is too large")
  func retry() throws {
    for isHonest in [true, false] {
      let server = try Endpoint(.server(TestCertificates.valid, []))
      try server.activate()
      // No key share of X448 is of use to the server.
      let client = try #require(KeyUpdatingClient(groups: "X448:P-256"))
      let hasSent = try client.exchange(with: server)
      #expect(hasSent && server.log.events.isEmpty)
      if isHonest {
        while try client.exchange(with: server) {}
        #expect(server.log.events == [.handshake])
        server.wire.hangUp()
      } else {
        try server.receive(ByteBuffer(bytes: Self.record([1], type: 20) + Self.record(Self.header(16_385))))
        #expect(Self.isRefused(server), "\(server.log.events)")
      }
    }
  }
}
