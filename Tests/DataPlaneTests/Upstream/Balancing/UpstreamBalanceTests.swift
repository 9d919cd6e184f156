import Testing
import WaitingTesting

@testable import DataPlane

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Cases, over raw sockets: spreading, another address after a refusal for any method, a POST that may have arrived, a
// stuck address, ejection and return, upstreams by number.

@Suite("Several addresses")
struct UpstreamBalanceTests {
  private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
  private static let post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"

  private static func address(_ port: UInt16) -> UpstreamAddress { .tcp(host: "127.0.0.1", port: port, tls: false) }

  @Test("Requests go to every address")
  func spread() async throws {
    let second = try ScriptedUpstream(echoing)
    defer { second.stop() }
    try await withGateway(
      upstream: { $0.addresses.append(Self.address(second.port)) },
      { rig async throws in
        for _ in 0..<40 { #expect(try await rig.exchange(Self.get).status == 200) }
        #expect(rig.upstream.accepted > 0 && second.accepted > 0)
      })
  }

  @Test("An address that refuses costs no request, whatever its method", arguments: [get, post])
  func refused(_ request: String) async throws {
    let refusing = try RefusingPort()
    let dead = refusing.port
    defer { refusing.close() }
    try await withGateway(
      upstream: { $0.addresses.insert(Self.address(dead), at: 0) },
      { rig async throws in
        for _ in 0..<30 {
          let answer = try await rig.exchange(request)
          #expect(answer.status == 200)
          if request == Self.post { #expect(answer.text.hasSuffix(":abc")) }
        }
        // Once ejected, it is rarely tried.
        let failed = rig.target.status.reduce(0) { $0 + $1.failures }
        #expect(failed >= 1 && failed < 15, "\(failed)")
      })
  }

  @Test("A POST that an upstream has received is not sent to another address")
  func postOnce() async throws {
    let second = try ScriptedUpstream { socket, _ in
      _ = try socket.readRequest()
      socket.reset()
    }
    defer { second.stop() }
    try await withGateway(
      upstream: { $0.addresses.append(Self.address(second.port)) },
      script: { socket, _ in
        _ = try socket.readRequest()
        socket.reset()
      },
      { rig async throws in
        for number in 1...8 {
          #expect(try await rig.exchange(Self.post).status == 502)
          #expect(rig.upstream.accepted + second.accepted == number)
        }
      })
  }

  @Test("An address that takes requests and never answers delays no other request")
  func stuck() async throws {
    let stuck = try ScriptedUpstream { socket, _ in _ = try? socket.readToEnd() }
    defer { stuck.stop() }
    try await withGateway(
      upstream: { $0.addresses.append(Self.address(stuck.port)) },
      { rig async throws in
        // Some requests get stuck there; as long as they are, it is the busier one, and all others pass.
        let clients = try (0..<6).map { _ in try rig.connect() }
        for client in clients { try client.send(Self.get) }
        #expect(await eventually { rig.log.statuses.count + stuck.accepted == 6 })
        // All may have gone to the other at random.
        while stuck.accepted == 0 {
          let answered = rig.log.statuses.count
          try clients[0].send(Self.get)
          try #require(await eventually { rig.log.statuses.count > answered || stuck.accepted > 0 })
        }
        for _ in 0..<20 { #expect(try await rig.exchange(Self.get).status == 200) }
        for client in clients { client.close() }
      })
  }

  @Test("A directive names the upstream of the request; one that does not exist is 500")
  func byNumber() async throws {
    try await withGateway(
      gate: { path, _ in .forward(ForwardingDirective(label: .init(number: 1), upstream: path == "/other" ? 7 : 0)) },
      { rig async throws in
        #expect(try await rig.exchange(Self.get).status == 200)
        #expect(try await rig.exchange("GET /other HTTP/1.1\r\nHost: a\r\n\r\n").status == 500)
        #expect(try await rig.isWell())
      })
  }
}

/// A port of loopback that is bound, so that no other test gets it, and has no listener.
private struct RefusingPort {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    (descriptor, port) = try ScriptedUpstream.bound(to: 0)
  }

  func close() { Glibc.close(descriptor) }
}
