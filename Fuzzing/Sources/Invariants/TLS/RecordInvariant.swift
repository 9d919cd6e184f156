import Foundation
import NIOCore
import NIOEmbedded
import TLSTransport

extension Invariant {
  /// For any bytes in place of a client's records, only bytes that the client encrypted come out: not one byte of
  /// plaintext before the end of a handshake or from a stranger's records, and of a client whose bytes were changed on
  /// the way a beginning of what it sent at most. There is one error at most, it is the peer's, and the connection ends
  /// with it.
  ///
  /// The first byte chooses the moment: at once, after an honest first flight, after an honest handshake, or changes to
  /// an honest connection, as pairs of a place and what its byte is changed by.
  static let tlsRecords = Invariant("tls-records") { bytes in
    guard let first = bytes.first else { return }
    let contexts = try TLSContexts.shared.get()
    let rest = Array(bytes.dropFirst())
    switch first % 4 {
    case 0:
      let server = try TLSSide(TLSHandler(server: contexts.server))
      try server.receive(rest, inPieces: first)
      try server.requireOrder(plaintext: [])
      try require(server.log.handshakes == 0, "a handshake was finished without a client")
    case 1:
      let (client, server) = try contexts.pair()
      try server.receive(client.sent(), inPieces: 0)
      try server.receive(rest, inPieces: first)
      try server.requireOrder(plaintext: [])
      try require(server.log.handshakes == 0, "a handshake was finished by strange bytes")
    case 2:
      let (client, server) = try contexts.pair()
      try exchange(client, server)
      try require(server.log.handshakes == 1, "an honest handshake failed: \(server.log.errors)")
      try server.receive(rest, inPieces: first)
      try server.requireOrder(plaintext: [])
    default:
      let (client, server) = try contexts.pair()
      var changes = rest[...]
      var turns = 0
      client.write(message)
      while turns < 8 {
        turns += 1
        var flight = try client.sent()
        if flight.isEmpty, turns > 1 { break }
        if changes.count >= 3, !flight.isEmpty {
          let place = (Int(changes.removeFirst()) << 8 | Int(changes.removeFirst())) % flight.count
          flight[place] ^= changes.removeFirst()
        }
        try server.receive(flight, inPieces: first)
        try client.receive(server.sent(), inPieces: 0)
      }
      try server.requireOrder(plaintext: message)
    }
  }

  private static let message = Array("GET / HTTP/1.1\r\nHost: fuzz.test\r\n\r\n".utf8)

  private static func exchange(_ client: TLSSide, _ server: TLSSide) throws {
    for _ in 0..<4 {
      try server.receive(client.sent(), inPieces: 0)
      try client.receive(server.sent(), inPieces: 0)
    }
  }
}

/// Contexts of both sides, made once.
private struct TLSContexts: Sendable {
  let server: TLSServerContext
  let client: TLSClientContext

  static let shared: Result<TLSContexts, any Error> = Result {
    try FuzzedCertificate.withFiles { certificate, key in
      TLSContexts(
        server: try TLSServerContext(
          certificateFile: certificate, privateKeyFile: key, applicationProtocols: ["h2", "http/1.1"]),
        client: try TLSClientContext(trust: .file(certificate), applicationProtocols: ["http/1.1"]))
    }
  }

  func pair() throws -> (client: TLSSide, server: TLSSide) {
    let server = try TLSSide(TLSHandler(server: server))
    return (try TLSSide(TLSHandler(client: client, serverName: "fuzz.test")), server)
  }
}

/// One side of a connection without a socket.
private final class TLSSide {
  private let channel = EmbeddedChannel()
  let log = TLSLog()

  init(_ handler: @autoclosure () throws -> TLSHandler) throws {
    try channel.pipeline.syncOperations.addHandlers([try handler(), log])
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
  }

  deinit {
    // The rest is of no interest: an error at the end was looked at already.
    _ = try? channel.finish(acceptAlreadyClosed: true)
  }

  func write(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  func sent() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
    return bytes
  }

  /// - Parameter choice: 0 for one piece; else it also says how long the first one is.
  func receive(_ bytes: [UInt8], inPieces choice: UInt8) throws {
    guard !bytes.isEmpty, channel.isActive else { return }
    let cut = choice == 0 ? bytes.count : min(bytes.count, Int(choice))
    for piece in [bytes[..<cut], bytes[cut...]] where !piece.isEmpty && channel.isActive {
      try channel.writeInbound(ByteBuffer(bytes: piece))
    }
  }

  func requireOrder(plaintext: [UInt8]) throws {
    try require(plaintext.starts(with: log.plaintext), "plaintext that nobody sent: \(shown(log.plaintext))")
    try require(log.errors.count <= 1, "\(log.errors.count) errors: \(log.errors)")
    for error in log.errors {
      try require((error as? TLSError)?.fault == .peer, "not the peer's fault: \(error)")
      try require(!channel.isActive, "the connection goes on after \(error)")
    }
  }
}

/// The events of a handler.
private final class TLSLog: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private(set) var plaintext: [UInt8] = []
  private(set) var handshakes = 0
  private(set) var errors: [any Error] = []

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    plaintext += unwrapInboundIn(data).readableBytesView
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is TLSHandshakeCompleted { handshakes += 1 }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append(error) }
}
