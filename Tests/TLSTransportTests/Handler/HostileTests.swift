import COpenSSL
import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite("A peer that does not keep the protocol")
struct HostileTests {
  private static func server() throws -> Endpoint {
    let endpoint = try Endpoint(.server(TestCertificates.valid, []))
    try endpoint.activate()
    return endpoint
  }

  @Test(
    "Plain HTTP is recognized by any method and target, also when its bytes come one by one",
    arguments: [
      "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "POST /x HTTP/1.1\r\n\r\n", "DELETE /x HTTP/1.1\r\n",
      "OPTIONS * HTTP/1.1\r\n",
      "PROPFIND /dav/ HTTP/1.1\r\n", "M-SEARCH * HTTP/1.1\r\n", "CONNECT a.example:443 HTTP/1.1\r\n",
      "PATCH HTTP://a/ HTTP/1.1\r\n", "UPDATEREDIRECTREF / HTTP/1.1\r\n", "x /", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
  func plainHTTP(_ text: String) throws {
    for pieces in [[ByteBuffer(string: text)], text.utf8.map { ByteBuffer(bytes: [$0]) }] {
      let server = try Self.server()
      for piece in pieces { try? server.receive(piece) }
      #expect(server.log.events == [.error(.notTLS(isHTTP: true)), .inactive], "\(pieces.count)")
    }
  }

  @Test(
    "Bytes that are neither TLS nor a request are not taken for HTTP, also when they come one by one",
    arguments: [
      "hello there, is anybody in?\r\n", " / HTTP/1.1\r\n", "DELETE\t/x HTTP/1.1\r\n", "PROPFIND  / HTTP/1.1\r\n",
      "DELETE hxxp://a/\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "EHLO mail.example\r\n", "\r\n\r\nDELETE / HTTP/1.1\r\n",
      String(repeating: "A", count: 33) + " / HTTP/1.1\r\n", String(repeating: "A", count: 100_000),
    ])
  func neither(_ text: String) throws {
    for pieces in [[ByteBuffer(string: text)], text.utf8.prefix(200).map { ByteBuffer(bytes: [$0]) }] {
      let server = try Self.server()
      for piece in pieces { try? server.receive(piece) }
      #expect(server.log.errors.count == 1 && server.log.errors != [.notTLS(isHTTP: true)], "\(server.log.errors)")
      #expect(server.log.events.last == .inactive)
    }
  }

  @Test("A peer that sends the beginning of a method and leaves has closed during the handshake")
  func halfAMethod() throws {
    let server = try Self.server()
    try server.receive(ByteBuffer(string: "DELE"))
    #expect(server.log.events.isEmpty)
    server.wire.hangUp()
    #expect(server.log.errors == [.closedDuringHandshake])
  }

  @Test("A peer that has its key updates answered and takes no answer is refused; one that takes them is not")
  func keyUpdates() throws {
    for takes in [true, false] {
      let server = try Self.server()
      let client = try #require(KeyUpdatingClient())
      while try client.exchange(with: server) {}
      #expect(server.log.events == [.handshake])
      server.channel.isWritable = takes
      var answers = 0
      for _ in 0..<2_000 where server.log.errors.isEmpty {
        client.update()
        try? server.receive(client.takeOutbound())
        // Nothing of it goes to the client: what matters is whether the channel takes it.
        answers += try server.takeOutbound()?.readableBytes ?? 0
      }
      if takes {
        #expect(server.log.errors.isEmpty && answers > 2_000 * 20)
      } else {
        #expect(server.log.errors == [.protocolViolation(reason: "requests answers and does not take them")])
        #expect(answers <= 17 << 10 && server.log.events.last == .inactive)
      }
    }
  }

  @Test("Garbage is refused")
  func garbage() throws {
    let server = try Self.server()
    try server.receive(ByteBuffer(bytes: (0..<200).map { UInt8($0 &* 37 & 0xFF) }))
    #expect(server.log.errors.count == 1)
    #expect(server.log.errors.first?.fault == .peer)
    #expect(server.log.events.last == .inactive)
    // Later bytes are ignored.
    try? server.receive(ByteBuffer(string: "more"))
    #expect(server.log.errors.count == 1)
  }

  @Test("A server that answers a ClientHello in plain text is recognized")
  func plainServer() throws {
    let client = try Endpoint(.client(.system, [], serverName: "app.example.test"))
    try client.activate()
    try client.receive(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n"))
    #expect(client.log.errors == [.notTLS(isHTTP: false)])
  }

  @Test("A client that knows TLS 1.1 at most is refused with the alert for it", arguments: [UInt8(1), 2])
  func oldVersion(minor: UInt8) throws {
    // ClientHello: version, random, no session, two suites, no compression, no extensions (RFC 4346, 7.4.1.2).
    var hello: [UInt8] = [3, minor] + [UInt8](repeating: 7, count: 32) + [0, 0, 4, 0xC0, 0x13, 0x00, 0x2F, 1, 0]
    hello = [1, 0, 0, UInt8(hello.count)] + hello
    let server = try Self.server()
    try server.receive(ByteBuffer(bytes: [22, 3, 1, 0, UInt8(hello.count)] + hello))
    #expect(server.log.errors == [.unsupportedVersion])
    let alert = try #require(try server.takeOutbound())
    // alert record, fatal, protocol_version (70).
    #expect(alert.getInteger(at: alert.readerIndex, as: UInt8.self) == 21)
    #expect(Array(alert.readableBytesView.suffix(2)) == [2, 70])
  }

  @Test("A record changed on the way is refused, what came before it counts")
  func damagedRecord() throws {
    let pair = try ConnectedPair.established()
    pair.client.write("good")
    pair.client.flush()
    try pair.pump()
    pair.client.write("evil")
    pair.client.flush()
    var record = try #require(try pair.client.takeOutbound())
    let last = record.writerIndex - 1
    record.setInteger(record.getInteger(at: last, as: UInt8.self)! ^ 1, at: last)
    try pair.server.receive(record)
    #expect(pair.server.log.text == "good")
    guard case .protocolViolation = pair.server.log.errors.first else {
      Issue.record("\(pair.server.log.events)")
      return
    }
    #expect(pair.server.log.events.last == .inactive)
    // The peer gets an alert: bad_record_mac (20).
    try pair.pump()
    guard case .refusedByPeer(alert: 20, _) = pair.client.log.errors.first else {
      Issue.record("\(pair.client.log.events)")
      return
    }
  }

  @Test("A record that announces more than a record may hold is refused without waiting for it")
  func hugeRecord() throws {
    let pair = try ConnectedPair.established()
    try pair.server.receive(ByteBuffer(bytes: [23, 3, 3, 0xFF, 0xFF, 0]))
    guard case .protocolViolation = pair.server.log.errors.first else {
      Issue.record("\(pair.server.log.events)")
      return
    }
    pair.close()
  }

  @Test("A ClientHello cut off anywhere waits, and ends with one error when the peer is gone")
  func cutOffHello() throws {
    let hello = try Self.clientHello()
    for length in stride(from: 0, to: hello.readableBytes, by: 7) {
      let server = try Self.server()
      if length > 0 { try server.receive(#require(hello.getSlice(at: hello.readerIndex, length: length))) }
      #expect(server.log.events.isEmpty)
      server.wire.hangUp()
      #expect(server.log.events == [.error(.closedDuringHandshake), .inactive])
    }
  }

  @Test("A ClientHello with any byte changed is served or refused with one error, and nothing traps")
  func changedHello() throws {
    let hello = try Self.clientHello()
    for offset in 0..<hello.readableBytes {
      for change: UInt8 in [0xFF, 0x01, 0x80] {
        var changed = hello
        let index = hello.readerIndex + offset
        changed.setInteger(hello.getInteger(at: index, as: UInt8.self)! ^ change, at: index)
        let server = try Self.server()
        try server.receive(changed)
        #expect(server.log.errors.count <= 1)
        #expect(server.channel.isActive == server.log.errors.isEmpty)
        #expect(server.log.plaintext.readableBytes == 0)
        server.wire.hangUp()
        #expect(server.log.errors.count == 1)
      }
    }
  }

  @Test("Random records after the handshake are refused with one error", arguments: 0..<50)
  func randomRecords(seed: UInt64) throws {
    var state = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    func random(_ limit: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % limit)
    }
    let pair = try ConnectedPair.established()
    // The four kinds of records, and others.
    var record: [UInt8] = [UInt8(20 + random(6)), 3, 3, 0, UInt8(17 + random(200))]
    record += (0..<record[4]).map { _ in UInt8(random(256)) }
    try pair.server.receive(ByteBuffer(bytes: record))
    pair.server.wire.hangUp()
    #expect(pair.server.log.errors.count == 1)
    #expect(pair.server.log.text == "")
    pair.close()
  }

  private static func clientHello() throws -> ByteBuffer {
    let client = try Endpoint(.client(.system, ["h2"], serverName: "app.example.test"))
    try client.activate()
    defer { client.wire.hangUp() }
    return try #require(try client.takeOutbound())
  }

  @Test("An error of one connection is not taken for an error of the next")
  func errorQueue() throws {
    for _ in 0..<3 {
      let bad = try Self.server()
      try bad.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
      #expect(bad.log.errors == [.notTLS(isHTTP: true)])
      let good = try ConnectedPair.established()
      #expect(good.client.log.events == [.handshake])
      good.close()
    }
  }
}
