import Foundation
import TemporaryDirectoryTesting
import Testing

// A WebSocket server in Node, on nothing but its own library: what becomes of its sockets when the session ends.

@SystemActor
@Suite("A WebSocket server in Node")
struct WebSocketApplicationTests {
  /// Greets each socket, and prints the messages and the Close frames that arrive, and the end.
  private static let server = """
    const { createHash } = require('node:crypto');
    const server = require('node:http').createServer((request, response) => response.end('a page'));
    server.on('upgrade', (request, socket) => {
      const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
      socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n' +
        'Sec-WebSocket-Accept: ' + createHash('sha1').update(key).digest('base64') + '\\r\\n\\r\\n');
      const greeting = Buffer.from('for ' + decodeURIComponent(request.headers['x-forwarded-name'] ?? 'nobody'));
      socket.write(Buffer.concat([Buffer.from([0x81, greeting.length]), greeting]));
      let bytes = Buffer.alloc(0);
      socket.on('data', data => {
        bytes = Buffer.concat([bytes, data]);
        while (bytes.length >= 6 && bytes.length >= 6 + (bytes[1] & 0x7f)) {
          const length = bytes[1] & 0x7f, mask = bytes.subarray(2, 6);
          const payload = Buffer.from(bytes.subarray(6, 6 + length).map((byte, index) => byte ^ mask[index % 4]));
          if ((bytes[0] & 0x0f) === 8) {
            console.log('close ' + payload.readUInt16BE(0));
            socket.end(Buffer.from([0x88, 2, payload[0], payload[1]]));
          } else {
            console.log('message ' + payload);
          }
          bytes = bytes.subarray(6 + length);
        }
      });
      socket.on('end', () => { console.log('gone'); socket.end(); });
      socket.on('error', error => console.log('error ' + error.code));
    });
    server.listen(Number(process.argv[2]), '127.0.0.1');
    """

  @Test("At sign-out the browser gets a Close frame, the application the end, and no socket opens any more")
  func signOut() throws {
    let folder = try TemporaryDirectory()
    let script = try folder.write(Self.server, to: "server.js")
    let port = try FreePort.take()
    let application = try ServerProcess(Machine.program("node", package: "nodejs"), [script, "\(port)"])
    defer { application.stop() }
    try application.waitUntilReady("the server listens") {
      try TCPConnection(port: port).close()
      return true
    }
    let site = try Site(adjust: { $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\"" })
    defer { site.stop() }
    let browser = try Browser()
    defer { browser.quit() }
    try browser.open(site.own("authorize"))
    try browser.click("#user-anna")
    try browser.click("#continue")
    try browser.waitForText("a page")
    try browser.script(
      """
      window.open = () => {
        window.said = []; window.ended = null;
        const socket = window.socket = new WebSocket(location.origin.replace('http', 'ws') + '/socket');
        socket.onmessage = event => window.said.push(event.data);
        socket.onclose = event => { window.ended = event.code + (event.wasClean ? ' clean' : ' unclean'); };
      };
      window.open();
      """)
    try poll("the greeting") {
      try browser.script("return window.said.join()") as? String == "for Anna Bergström" ? () : nil
    }
    try browser.script("window.socket.send('hello')")
    try application.waitForLine(containing: "message hello")
    let tabs = try browser.openTab()
    try browser.open(site.own("sign-out"))
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    try browser.switchTo(tabs.old)
    let ended = try poll("the socket to end") { try browser.script("return window.ended") as? String }
    #expect(ended == "1008 clean")
    // Of a session that has ended nothing is forwarded any more, not even the answer of the browser.
    try application.waitForLine(containing: "gone")
    #expect(!application.standardOutput.contains("error") && !application.standardOutput.contains("close"))
    try browser.script("window.open()")
    #expect(
      try poll("the next socket to end") { try browser.script("return window.ended") as? String } == "1006 unclean")
  }
}
