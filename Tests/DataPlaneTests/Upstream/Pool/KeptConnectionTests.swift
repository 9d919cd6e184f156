import HTTPWire
import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

// A response may come before the last of its request has left. After NTLM, and Negotiate where it is NTLM, a server
// takes every request on the connection for the user's.
@Suite("Connections that are kept after a response")
struct KeptConnectionTests {
  private final class Client: UpstreamResponseReceiver {
    var isAnswered = false
    let canTakeResponse = true
    let takesBulk = false

    func upstreamReady(_ connection: UpstreamConnection) {}
    func upstreamFailed(_ failure: UpstreamFailure) { Issue.record("\(failure)") }
    func responseHead(_ head: borrowing ResponseHead, _ bytes: RawSpan, framing: BodyFraming) {}
    func responseContent(_ content: ByteBuffer) {}
    func responseEnded(trailers: [UInt8]) { isAnswered = true }
    func flushResponse() {}
    func upstreamWritabilityChanged(_ writable: Bool) {}
  }

  @Test(
    "A connection on which a part of the request waits to be sent is closed, and kept when all has left",
    arguments: [true, false])
  func waiting(isSent: Bool) throws {
    let eventLoop = EmbeddedEventLoop()
    let loop = LoopResources(eventLoop: eventLoop)
    let target = try UpstreamGroup(UpstreamSettings(address: .tcp(host: "127.0.0.1", port: 9, tls: false)))
    let pool = UpstreamPool(loop: loop, settings: target.settings, endpoint: target.endpoints[0]) { _ in }
    let connection = UpstreamConnection(
      loop: loop, pool: pool, timeouts: UpstreamWaits(UpstreamTimeouts()), awaitsHandshake: false, isAtSocket: false)
    let channel = EmbeddedChannel(loop: eventLoop)
    try channel.pipeline.syncOperations.addHandler(connection)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 9)).wait()
    let client = Client()
    connection.begin(
      client, head: ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"), content: nil,
      awaiting: .init(toHead: false, upgrades: false, isLast: false, requestIsComplete: false), now: eventLoop.now)
    connection.send(ByteBuffer(string: "body"))
    if isSent { connection.flushRequest() }
    connection.requestEnded()
    try channel.writeInbound(ByteBuffer(string: "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"))
    #expect(client.isAnswered && connection.isIdle == isSent && channel.isActive == isSent)
  }

  @Test(
    "A connection that a request may have authenticated carries no other request",
    arguments: ["NTLM TlRMTVNTUAAD", "negotiate YII=", "Basic YTpi", "Bearer ntlm"])
  func authenticated(_ credentials: String) async throws {
    try await withGateway { rig async throws in
      let texts = try await blocking {
        var texts: [String] = []
        for field in ["", "Authorization: \(credentials)\r\n", ""] {
          let client = try rig.connect()
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n")
          texts.append(try client.readResponse().text)
        }
        return texts
      }
      let isShared = credentials.first == "B"
      #expect(texts == (isShared ? ["0.0:", "0.1:", "0.2:"] : ["0.0:", "1.0:", "0.1:"]))
    }
  }
}
