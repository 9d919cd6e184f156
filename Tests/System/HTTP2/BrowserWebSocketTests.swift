import Foundation
import Testing

// WebSockets of a real browser over HTTP/2 (RFC 8441): Chromium opens them as streams of the connection that the page
// came by.
//
// - The close code of either side reaches the other: no socket ends as 1006.
// - A hundred open sockets leave room for the requests of the page.

@SystemActor
@Suite("WebSockets of a browser over HTTP/2")
struct BrowserWebSocketTests {
  private let folder: TLSFolder
  private let upstream: RawUpstream
  private let gateway: GatewayProcess
  private let browser: Browser

  init() throws {
    folder = try TLSFolder()
    upstream = try RawUpstream(Self.answer)
    gateway = try folder.gateway(before: upstream)
    browser = try Browser(acceptsAnyCertificate: true)
  }

  /// A page, or a WebSocket that sends each message back and answers a Close frame with its own code; the message
  /// `close` makes it close by itself, with 4002.
  private nonisolated static let answer: RawUpstream.RequestHandler = { request, connection in
    guard request.fields["Upgrade"] == "websocket" else {
      return try connection.send(
        RawUpstream.response(
          fields: ["Content-Type: text/html"], body: "<!doctype html><title>page</title><p>the page"))
    }
    try connection.send(
      """
      HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
      Sec-WebSocket-Accept: \(StreamingApplication.accept(request))\r\n\r\n
      """)
    while true {
      let (code, payload) = try frame(from: connection)
      if code == 8 || payload == Array("close".utf8) {
        let status = code == 8 ? payload : [UInt8(4002 >> 8), UInt8(4002 & 255)]
        try connection.send([0x88, UInt8(status.count)] + status)
        if code != 8 { _ = try frame(from: connection) }
        return connection.close()
      }
      try connection.send([0x80 | code, UInt8(payload.count)] + payload)
    }
  }

  /// One short masked frame (RFC 6455, 5.2): its code and its payload.
  private nonisolated static func frame(from connection: TCPConnection) throws -> (code: UInt8, payload: [UInt8]) {
    let head = try connection.read(count: 2, by: .seconds(120))
    let mask = try connection.read(count: 4)
    let length = Int(head[1] & 0x7f)
    let masked = length == 0 ? [] : try connection.read(count: length)
    return (head[0] & 0x0f, masked.enumerated().map { $1 ^ mask[$0 % 4] })
  }

  /// Opens the page, in the test itself: other suites may run between `init` and a test, for longer than the browser's
  /// connection is kept.
  private func openPage() throws {
    try browser.open("https://localhost:\(gateway.configuration.port)/page")
    try browser.waitForText("the page")
  }

  /// Opens sockets, and keeps what became of each in `window.sockets` and `window.endings`.
  private func openSockets(_ count: Int) throws {
    try browser.script(
      """
      window.sockets = []; window.endings = []; window.echoed = 0
      for (let i = 0; i < \(count); i++) {
        const socket = new WebSocket(location.origin.replace('http', 'ws') + '/socket')
        socket.onopen = () => socket.send('message ' + i)
        socket.onmessage = event => { if (event.data == 'message ' + i) window.echoed++ }
        socket.onclose = event => window.endings.push(event.code + (event.wasClean ? ' clean' : ' unclean'))
        window.sockets.push(socket)
      }
      """)
    try poll("\(count) messages to come back", by: .seconds(60)) {
      try browser.script("return window.echoed") as? Int == count ? () : nil
    }
  }

  private func closed(_ count: Int) throws -> [String] {
    try poll("\(count) sockets to be closed", by: .seconds(60)) {
      let closed = try browser.script("return window.endings") as? [String] ?? []
      return closed.count == count ? closed : nil
    }
  }

  @Test("The close code of either side reaches the other cleanly")
  func closeCodes() throws {
    try openPage()
    #expect(
      try browser.script("return performance.getEntriesByType('navigation')[0].nextHopProtocol") as? String == "h2")
    try openSockets(2)
    try browser.script("window.sockets[0].close(4321, 'done'); window.sockets[1].send('close')")
    #expect(Set(try closed(2)) == ["4321 clean", "4002 clean"])
  }

  @Test("A hundred open sockets on one connection leave room for the page, and all close cleanly")
  func aHundred() throws {
    try openPage()
    try openSockets(100)
    let connections = try gateway.admin.get("/metrics").text.firstMatch(
      of: /cordon_client_connections_open (\d+)/)?.1
    #expect(Int(connections ?? "") ?? .max <= 4, "the sockets are not streams of one connection: \(connections ?? "?")")
    try browser.script(
      "window.fetched = null; fetch('/page').then(r => r.text()).then(t => window.fetched = t.includes('the page'))")
    try poll("an answer beside the sockets", by: .seconds(30)) {
      try browser.script("return window.fetched") as? Bool == true ? () : nil
    }
    try browser.script("window.sockets.forEach(socket => socket.close(4321, 'done'))")
    #expect(Set(try closed(100)) == ["4321 clean"])
  }
}
