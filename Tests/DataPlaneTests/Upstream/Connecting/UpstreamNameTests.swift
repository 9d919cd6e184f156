import HTTPTypes
import LoopbackTesting
import NIOCore
import SocketTransport
import Synchronization
import Testing
import Threads

@testable import DataPlane

// Cases: fresh answers, old answers, no answer, one lookup at a time, slow resolvers, rotation; and through sockets: a
// name that moves, a resolver that fails later, a resolver that hangs; no thread for the lookup.

@Suite("Names that are looked up again")
struct UpstreamNameTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private func addresses(_ hosts: String...) -> [SocketAddress] {
    hosts.compactMap { try? SocketAddress(ipAddress: $0, port: 80) }
  }

  @Test("All requests wait for one lookup until the first answer")
  func first() {
    var answers = NameAnswers()
    let one = answers.ask(at: start)
    let other = answers.ask(at: start + .seconds(20))
    #expect(one.advice == .wait && one.begins && other.advice == .wait && !other.begins)
    #expect(answers.isAwaited)
    answers.answered(addresses("10.0.0.1"), at: start + .seconds(21))
    #expect(!answers.isAwaited)
    let third = answers.ask(at: start + .seconds(21))
    #expect(third.advice == .use(addresses("10.0.0.1")) && !third.begins)
  }

  @Test("An answer is used for five seconds; then it is looked up again, and waited for a moment")
  func freshness() {
    var answers = NameAnswers()
    _ = answers.ask(at: start)
    answers.answered(addresses("10.0.0.1"), at: start)
    #expect(answers.ask(at: start + .milliseconds(4_999)).begins == false)
    let late = start + .seconds(5)
    let due = answers.ask(at: late)
    #expect(due.begins && due.advice == .waitBriefly(NameAnswers.patience, addresses("10.0.0.1")))
    #expect(!answers.isAwaited, "connections use the old answer")
    let next = answers.ask(at: late + .milliseconds(100))
    #expect(!next.begins && next.advice == .waitBriefly(.milliseconds(150), addresses("10.0.0.1")))
    // A slow resolver does not delay later requests.
    #expect(answers.ask(at: late + .milliseconds(250)).advice == .use(addresses("10.0.0.1")))
    #expect(answers.ask(at: late + .seconds(60)).begins == false)
    answers.answered(addresses("10.0.0.2"), at: late + .seconds(61))
    #expect(answers.ask(at: late + .seconds(61)).advice == .use(addresses("10.0.0.2")))
  }

  @Test("The old answer is kept while the resolver gives none, which is asked every five seconds only")
  func failing() {
    var answers = NameAnswers()
    _ = answers.ask(at: start)
    answers.answered(addresses("10.0.0.1"), at: start)
    var now = start
    for _ in 0..<100 {
      now = now + .seconds(5)
      #expect(answers.ask(at: now).begins == true)
      answers.answered([], at: now)
      #expect(answers.ask(at: now).advice == .use(addresses("10.0.0.1")))
      #expect(answers.ask(at: now + .seconds(4)).begins == false)
    }
  }

  @Test("Each connection may ask again while there is no answer of the resolver")
  func nothing() {
    var answers = NameAnswers()
    _ = answers.ask(at: start)
    answers.answered([], at: start)
    let again = answers.ask(at: start)
    #expect(again.advice == .wait && again.begins)
  }

  @Test("A name with several addresses begins with another one each time")
  func rotation() {
    var answers = NameAnswers()
    answers.answered(addresses("10.0.0.1", "10.0.0.2", "10.0.0.3"), at: start)
    let firsts = (0..<6).map { _ in answers.next().first?.ipAddress ?? "" }
    #expect(Set(firsts[0..<3]) == ["10.0.0.1", "10.0.0.2", "10.0.0.3"])
    #expect(answers.next().count == 3)
  }

  // MARK: With sockets

  private func answer(of name: NameResolver, on group: SocketEventLoopGroup) async throws -> [SocketAddress] {
    try await name.addresses(on: group.next()).get()
  }

  @Test("Waiting for a resolver that hangs blocks no event loop, and no other name")
  func hanging() async throws {
    let group = try SocketEventLoopGroup(loops: 1)
    let opened = Mutex(false)
    let stuck = NameResolver("stuck.test", port: 80) { _, _ in
      while !opened.withLock({ $0 }) { try? RawSocket.pause() }
      return []
    }
    defer { opened.withLock { $0 = true } }
    let loop = group.next()
    let waiting = stuck.addresses(on: loop)
    // The same loop is not blocked.
    #expect(try await loop.submit { true }.get())
    let well = NameResolver("well.test", port: 80) { [found = addresses("10.0.0.9")] _, _ in found }
    #expect(try await answer(of: well, on: group) == addresses("10.0.0.9"))
    opened.withLock { $0 = true }
    #expect(try await waiting.get().isEmpty)
    try await group.shutdownGracefully()
  }

  @Test("Without a thread left for the lookup it fails at once, saying so, and the next connection asks again")
  func noThread() async throws {
    let group = try SocketEventLoopGroup(loops: 1)
    // A stack of a PiB: more than an address space has.
    let worker = SerialWorker(named: "cordon-name", stackSize: 1 << 50)
    let name = NameResolver("app.test", port: 80, worker: worker) { _, _ in
      Issue.record("it was looked up")
      return []
    }
    for _ in 0..<2 {
      let error = await #expect(throws: UnresolvedHostError.self) { try await answer(of: name, on: group) }
      let text = error?.description ?? ""
      #expect(text.hasPrefix("no address for app.test, because the system has no thread left"), "\(text)")
    }
    #expect(!name.isAwaited)
    try await group.shutdownGracefully()
  }

  @Test("No socket stays on its way once a connection to another address of the name is made")
  func losersClosed() async throws {
    let full = try FullListener()
    let upstream = try ScriptedUpstream(echoing)
    defer { upstream.stop() }
    let group = try SocketEventLoopGroup(loops: 1)
    let settings = UpstreamSettings(
      address: .tcp(host: "app.test", port: upstream.port, tls: false), timeouts: .unreachable)
    let target = try UpstreamGroup(settings) { [slow = full.port] _, port in
      [slow, slow, port].compactMap { try? SocketAddress(ipAddress: "127.0.0.1", port: Int($0)) }
    }
    let client = try await OriginClient(
      target, authority: "app.test", timeout: patience, bodyLimit: 100, on: group.next())
    // Each begins with another address.
    for _ in 0..<3 {
      try await client.connect()
      #expect(try full.connectingCount() == 0)
    }
    try await group.shutdownGracefully()
  }

  @Test("No socket stays on its way once a connection to a name has taken too long")
  func givenUp() async throws {
    let full = try FullListener()
    let group = try SocketEventLoopGroup(loops: 1)
    var settings = UpstreamSettings(address: .tcp(host: "app.test", port: 80, tls: false))
    settings.timeouts.connect = .milliseconds(600)
    // More than there is time for.
    let slow = try SocketAddress(ipAddress: "127.0.0.1", port: Int(full.port))
    let target = try UpstreamGroup(settings) { _, _ in Array(repeating: slow, count: 20) }
    let client = try await OriginClient(
      target, authority: "app.test", timeout: patience, bodyLimit: 100, on: group.next())
    await #expect(throws: OriginError.self) { try await client.connect() }
    #expect(try full.connectingCount() == 0)
    try await group.shutdownGracefully()
  }

  /// The reason for which a request to `app.test` was not sent.
  /// - Parameter release: called when it is known, for a lookup that goes on until then.
  private func reason(
    connect: Duration = unreachable, timeout: Duration = unreachable, release: () -> Void = {},
    _ lookup: @escaping NameResolver.Lookup
  ) async throws -> String? {
    let group = try SocketEventLoopGroup(loops: 1)
    var settings = UpstreamSettings(address: .tcp(host: "app.test", port: 80, tls: false))
    settings.timeouts.connect = connect
    let target = try UpstreamGroup(settings, lookup: lookup)
    let client = try await OriginClient(
      target, authority: "app.test", timeout: timeout, bodyLimit: 100, on: group.next())
    var found: OriginError?
    do throws(OriginError) {
      _ = try await client.send(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), body: [])
    } catch {
      found = error
    }
    release()
    // The lookup ends before the loop that waits for it.
    _ = try? await target.endpoints.first?.name?.addresses(on: group.next()).get()
    try await group.shutdownGracefully()
    if case .notSent(let reason)? = found { return reason }
    return nil
  }

  @Test(
    "A lookup that does not end in time is named as the cause, whichever limit of time is over first",
    arguments: [(Duration.milliseconds(300), unreachable), (unreachable, .milliseconds(300))])
  func silentResolver(connect: Duration, timeout: Duration) async throws {
    let isKnown = Mutex(false)
    let release = { isKnown.withLock { $0 = true } }
    let text = try await reason(connect: connect, timeout: timeout, release: release) { _, _ in
      while !isKnown.withLock({ $0 }) { try? RawSocket.pause() }
      return []
    }
    #expect(text?.contains("the name app.test was not looked up in time") == true, "\(text ?? "")")
    #expect(text?.contains("/etc/resolv.conf") == true)
  }

  @Test("Name servers that give no answer are told from those that know no address")
  func temporaryFailure() async throws {
    let temporary = try await reason { (host, _) throws(UnresolvedHostError) in
      throw UnresolvedHostError(host: host, reason: .noAnswer)
    }
    #expect(temporary?.contains("no address for app.test, because the name servers gave no answer") == true)
    let unknown = try await reason { _, _ in [] }
    #expect(unknown?.hasSuffix("no address for app.test") == true, "\(unknown ?? "")")
  }

  @Test("Connections go where the resolver says")
  func resolved() async throws {
    let upstream = try ScriptedUpstream(echoing)
    defer { upstream.stop() }
    let group = try SocketEventLoopGroup(loops: 1)
    let settings = UpstreamSettings(
      address: .tcp(host: "app.test", port: upstream.port, tls: false), timeouts: .unreachable)
    let target = try UpstreamGroup(settings) { host, port in
      host == "app.test" ? [try? SocketAddress(ipAddress: "127.0.0.1", port: Int(port))].compactMap { $0 } : []
    }
    let client = try await OriginClient(
      target, authority: "app.test", timeout: patience, bodyLimit: 100, on: group.next())
    let response = try await client.send(HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/"), body: [])
    #expect(response.head.status == .ok)
    try await group.shutdownGracefully()
  }

  @Test("A name that cannot be found is 502")
  func unknown() async throws {
    try await withGateway(
      upstream: { settings in
        if case .tcp(_, let port, _)? = settings.addresses.first {
          settings.addresses = [.tcp(host: "no-such-host.invalid", port: port, tls: false)]
        }
      },
      { rig async throws in
        let answer = try await rig.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.status == 502 && answer.text.contains("no address for no-such-host.invalid"))
      })
  }
}
