import HTTPWire
import NIOCore
import Testing

@testable import DataPlane

@Suite("Request bodies that are collected to get a length")
struct CollectedBodyTests {
  /// The head that a chunked request was written with, as it is sent in the end.
  private func sent(_ bench: inout ExchangeBench) -> String? {
    bench.exchange.upstream.head = ByteBuffer(
      string: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    bench.exchange.upstream.settleBody(.put)
    return bench.exchange.upstream.head.map { String(buffer: $0) }
  }

  @Test("A body without a length is collected, and sent with its length", arguments: [HTTPVersion.http11, .http2])
  func collected(_ version: HTTPVersion) throws {
    var bench = try ExchangeBench(version, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    #expect(bench.apply(.forward(.chunked)) == "")
    #expect(bench.apply(.content(4)) == "buffer")
    #expect(bench.apply(.look) == "not ready")
    #expect(bench.apply(.content(6)) == "buffer")
    #expect(bench.apply(.end) == "send")
    #expect(bench.apply(.look) == "ready")
    #expect(sent(&bench) == "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
    #expect(bench.exchange.upstream.takeWaiting()?.readableBytes == 10)
  }

  @Test("A collected body does not make a connection shared that its request may authenticate")
  func authenticated() throws {
    var bench = try ExchangeBench(.http11, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    _ = bench.apply(.forward(.chunked))
    bench.exchange.upstream.authenticatesConnection = true
    bench.exchange.upstream.endsConnection = true
    _ = bench.apply(.content(4))
    _ = bench.apply(.end)
    bench.exchange.upstream.head = ByteBuffer(
      string: "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
    bench.exchange.upstream.settleBody(.put)
    #expect(bench.exchange.upstream.endsConnection)
    #expect(
      bench.exchange.upstream.head
        == ByteBuffer(string: "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"))
  }

  @Test("One byte too many is refused with 411", arguments: [HTTPVersion.http11, .http2])
  func tooLong(_ version: HTTPVersion) throws {
    var bench = try ExchangeBench(version, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    _ = bench.apply(.forward(.chunked))
    #expect(bench.apply(.content(10)) == "buffer")
    #expect(bench.apply(.content(1)) == "refuse 411")
  }

  @Test("Content that came while the gate decided counts, and is sent")
  func early() throws {
    var bench = try ExchangeBench(.http2, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    #expect(bench.apply(.content(8)) == "keep")
    #expect(bench.apply(.forward(.chunked)) == "")
    #expect(bench.apply(.content(2)) == "buffer")
    #expect(bench.apply(.end) == "send")
    #expect(bench.exchange.upstream.takeWaiting()?.readableBytes == 10)
    var other = try ExchangeBench(.http2, requestBuffer: 10)
    _ = other.apply(.head(.put, ended: false))
    _ = other.apply(.content(11))
    #expect(other.apply(.forward(.chunked)) == "refuse 411")
  }

  @Test("A body with a length, and an upgrade, are never collected")
  func others() throws {
    var bench = try ExchangeBench(.http11, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    #expect(bench.apply(.forward(.length(50))) == "")
    #expect(bench.apply(.look) == "ready")
    #expect(bench.apply(.content(20)) == "keep")
  }

  @Test("Trailers end with the chunks that they belong to")
  func trailers() throws {
    var bench = try ExchangeBench(.http11, requestBuffer: 10)
    _ = bench.apply(.head(.put, ended: false))
    _ = bench.apply(.forward(.chunked))
    _ = bench.apply(.content(2))
    _ = bench.exchange.receivedEnd(trailers: Array("X-Sum: 1\r\n".utf8))
    #expect(sent(&bench)?.contains("Content-Length: 2\r\n") == true)
    #expect(bench.exchange.upstream.trailers.isEmpty)
  }

  @Test("Without a setting, bodies are collected up to 64 KiB while the last response was HTTP/1.0")
  func learned() throws {
    let bench = try ExchangeBench(.http11)
    #expect(bench.balancer.requestBuffer == 0)
    bench.balancer.pools[1].answered(isHTTP11: false)
    #expect(bench.balancer.requestBuffer == 64 * 1024)
    bench.balancer.pools[1].answered(isHTTP11: true)
    #expect(bench.balancer.requestBuffer == 0)
    let fixed = try ExchangeBench(.http11, requestBuffer: 0)
    fixed.balancer.pools[0].answered(isHTTP11: false)
    #expect(fixed.balancer.requestBuffer == 0)
    let framed = try ExchangeBench(.http11, speaks: .http2, requestBuffer: 10)
    #expect(framed.balancer.requestBuffer == 0)
  }
}
