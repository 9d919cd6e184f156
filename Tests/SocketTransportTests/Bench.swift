import Dispatch
import Glibc
import NIOCore
import Synchronization
import Testing

@testable import SocketTransport

/// Time after which a test gives up what it waits for: far longer than it takes, also on a busy machine. No test
/// asserts a time.
private let patienceSeconds = 60

/// A reason for which a test cannot go on.
enum TestFailure: Error {
  case impatient(String)
  case system(String, CInt)
}

/// Performs blocking work outside the thread pool of Swift's tasks, which has few threads.
func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
  }
}

/// A value that another thread waits for.
final class Later<T: Sendable>: Sendable {
  private let result = Mutex<Result<T, any Error>?>(nil)
  private let semaphore = DispatchSemaphore(value: 0)

  func complete(_ result: Result<T, any Error>) {
    self.result.withLock { $0 = result }
    semaphore.signal()
  }

  func get(_ what: String = "a result") throws -> T {
    guard semaphore.wait(timeout: .now() + .seconds(patienceSeconds)) == .success else {
      throw TestFailure.impatient(what)
    }
    semaphore.signal()
    guard let result = result.withLock({ $0 }) else { throw TestFailure.impatient(what) }
    return try result.get()
  }
}

extension SocketEventLoop {
  /// Performs `body` on the loop, and waits for its result.
  func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) throws -> T {
    let later = Later<T>()
    execute { later.complete(Result { try body() }) }
    return try later.get("a task of the loop")
  }

  /// Ends the loop, and waits for that.
  func endAndWait() throws {
    let later = Later<Bool>()
    end { later.complete(.success(true)) }
    _ = try later.get("the end of the loop")
  }
}

extension EventLoopFuture where Value: Sendable {
  func awaited() throws -> Value {
    let later = Later<Value>()
    whenComplete { later.complete($0) }
    return try later.get("a future")
  }

  /// Waits, and expects a value.
  func expect(_ value: Value) throws where Value: Equatable {
    let own = try awaited()
    #expect(own == value)
  }
}

/// Things that have happened, in order, which another thread waits for.
final class Journal: Sendable {
  private struct State {
    var entries: [String] = []
    var bytes: [UInt8] = []
  }

  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)

  func note(_ entry: String) {
    state.withLock { $0.entries.append(entry) }
    news.signal()
  }

  func note(_ bytes: ByteBuffer) {
    state.withLock { $0.bytes.append(contentsOf: bytes.readableBytesView) }
    news.signal()
  }

  var entries: [String] { state.withLock { $0.entries } }
  var bytes: [UInt8] { state.withLock { $0.bytes } }
  func count(of entry: String) -> Int { entries.count { $0 == entry } }

  /// Waits for a condition.
  private func wait(_ what: String, until condition: () -> Bool) throws {
    let deadline = DispatchTime.now() + .seconds(patienceSeconds)
    while !condition() {
      guard news.wait(timeout: deadline) == .success else {
        throw TestFailure.impatient("\(what); there are \(entries.suffix(20)) and \(bytes.count) bytes")
      }
    }
  }

  func wait(for entry: String, times: Int = 1) throws { try wait(entry) { count(of: entry) >= times } }
  func wait(forBytes count: Int) throws { try wait("\(count) bytes") { state.withLock { $0.bytes.count } >= count } }
}

/// The other side of a channel: a socket used by system calls only, which wait.
final class BlockingPeer: Sendable {
  let descriptor: CInt
  private let isClosed = Mutex(false)

  init(_ descriptor: CInt) { self.descriptor = descriptor }
  deinit { close() }

  func close() {
    let closes = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return !isClosed
    }
    if closes { _ = closeDescriptor(descriptor) }
  }

  /// Closes with a reset (TCP).
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func endOutput() { shutdown(descriptor, CInt(SHUT_WR)) }

  private func wait(for events: CInt, _ what: String) throws {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while true {
      let count = poll(&entry, 1, CInt(patienceSeconds) * 1_000)
      if count > 0 { return }
      if count == 0 || errno != EINTR { throw TestFailure.impatient(what) }
    }
  }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count { sent += try sendSome(bytes[sent...]) }
  }

  private func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let count = trySend(bytes)
    if count > 0 { return count }
    guard errno == EAGAIN || errno == EINTR else { throw TestFailure.system("send", errno) }
    try wait(for: CInt(POLLOUT), "room")
    return 0
  }

  /// - Returns: how many bytes the system takes now; negative for an error.
  func trySend(_ bytes: ArraySlice<UInt8>) -> Int { bytes.withUnsafeBytes { SystemSocket.sendBytes(descriptor, $0) } }

  /// - Returns: the bytes that are there, at most `limit`; nil if there are none, empty at the end.
  func tryRead(_ limit: Int) throws -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &bytes, limit, CInt(MSG_DONTWAIT))
    if count >= 0 { return Array(bytes[..<count]) }
    guard errno == EAGAIN || errno == EINTR else { throw TestFailure.system("recv", errno) }
    return nil
  }

  /// The next bytes; fewer at the end.
  func read(_ count: Int) throws -> [UInt8] {
    var all: [UInt8] = []
    while all.count < count {
      if let bytes = try tryRead(min(count - all.count, 65_536)) {
        if bytes.isEmpty { return all }
        all += bytes
      } else {
        try wait(for: CInt(POLLIN), "\(count) bytes; there are \(all.count)")
      }
    }
    return all
  }

  /// Everything up to the end.
  func readToEnd() throws -> [UInt8] { try read(.max) }
}

/// `close(2)`, for a type with a method of that name.
private func closeDescriptor(_ descriptor: CInt) -> CInt { Glibc.close(descriptor) }

/// A kind of connection, and of receiver.
enum Manner: String, CaseIterable, CustomTestStringConvertible, Sendable {
  case unixPipeline, unixReader, tcpPipeline, tcpReader

  var isUnix: Bool { self == .unixPipeline || self == .unixReader }
  var usesReader: Bool { self == .unixReader || self == .tcpReader }
  var testDescription: String { rawValue }
}

/// The handler of a test's channel: notes what happens to it, and does in between what the test wants.
final class Witness: ChannelDuplexHandler, SocketReader {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private let journal: Journal
  private unowned let channel: SocketChannel
  private let usesReader: Bool
  /// Whether it asks for a read after each.
  var asks = true
  var onActive: (SocketChannel) -> Void = { _ in }
  var onRead: (SocketChannel) -> Void = { _ in }
  var onReadComplete: (SocketChannel) -> Void = { _ in }
  var onWritability: (SocketChannel) -> Void = { _ in }
  var onInputClosed: (SocketChannel) -> Void = { _ in }
  var onInactive: (SocketChannel) -> Void = { _ in }
  private(set) var reads = 0
  private var depth = 0

  init(_ journal: Journal, _ channel: SocketChannel, usesReader: Bool) {
    self.journal = journal
    self.channel = channel
    self.usesReader = usesReader
  }

  func read(context: ChannelHandlerContext) { if asks { context.read() } }

  func channelActive(context: ChannelHandlerContext) {
    journal.note("active")
    onActive(channel)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { received(unwrapInboundIn(data)) }

  func socketRead(_ bytes: consuming ByteBuffer) { received(bytes) }

  private func received(_ bytes: ByteBuffer) {
    if depth > 0 { journal.note("read within a read") }
    depth += 1
    reads += 1
    journal.note(bytes)
    onRead(channel)
    depth -= 1
  }

  func channelReadComplete(context: ChannelHandlerContext) { onReadComplete(channel) }

  func socketReadComplete() -> Bool {
    onReadComplete(channel)
    return asks
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    journal.note(channel.isWritable ? "writable" : "not writable")
    onWritability(channel)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event as? ChannelEvent {
    case .inputClosed:
      journal.note("input closed")
      onInputClosed(channel)
    case .outputClosed: journal.note("output closed")
    case nil: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { journal.note("error") }

  func channelInactive(context: ChannelHandlerContext) {
    journal.note("inactive")
    onInactive(channel)
  }

  func handlerRemoved(context: ChannelHandlerContext) { journal.note("removed") }
}

/// A channel with a witness, on a loop of its own, and its peer. Used on a thread that may block.
final class Bench: Sendable {
  let loop: SocketEventLoop
  let channel: SocketChannel
  let peer: BlockingPeer
  let journal: Journal
  private let bound: NIOLoopBound<Witness>

  private init(
    _ loop: SocketEventLoop, _ channel: SocketChannel, _ peer: BlockingPeer, _ j: Journal, _ w: NIOLoopBound<Witness>
  ) {
    self.loop = loop
    self.channel = channel
    self.peer = peer
    journal = j
    bound = w
  }

  /// Of the loop.
  var witness: Witness { bound.value }

  /// - Returns: the descriptor of an accepted connection, the address of its peer, and the peer.
  static func pair(isUnix: Bool) throws -> (ListeningSocket.Accepted, BlockingPeer) {
    if isUnix {
      let (own, peer) = try unixPair()
      return (ListeningSocket.Accepted(descriptor: own, peer: nil), BlockingPeer(peer))
    }
    let (own, peer) = try tcpDescriptors()
    let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
    return (ListeningSocket.Accepted(descriptor: own, peer: address), BlockingPeer(peer))
  }

  /// Makes a channel that is not yet open.
  static func add(_ manner: Manner, on loop: SocketEventLoop) throws -> Bench {
    let (accepted, peer) = try pair(isUnix: manner.isUnix)
    let journal = Journal()
    return try loop.run {
      let channel = SocketChannel(accepted, on: loop)
      channel.allowsRemoteHalfClosure = true
      channel.closeFuture.whenComplete { _ in journal.note("closed") }
      let witness = Witness(journal, channel, usesReader: manner.usesReader)
      if manner.usesReader { channel.reader = witness }
      try channel.pipeline.syncOperations.addHandler(witness)
      return Bench(loop, channel, peer, journal, NIOLoopBound(witness, eventLoop: loop))
    }
  }

  func on<T: Sendable>(_ body: @escaping @Sendable (SocketChannel, Witness) throws -> T) throws -> T {
    try loop.run { [self] in try body(channel, witness) }
  }

  func open() throws { try loop.run { [channel] in channel.open() } }

  /// Waits until the loop has seen everything that the system had to report to it by now.
  func settle() throws {
    let marker = try Bench.add(.unixPipeline, on: loop)
    try marker.open()
    try marker.peer.send([1])
    try marker.journal.wait(forBytes: 1)
    marker.peer.close()
    try marker.journal.wait(for: "input closed")
    try marker.on { channel, _ in channel.close(promise: nil) }
    try marker.journal.wait(for: "closed")
  }
}

/// Performs a test with a loop, on a thread that may block, and ends the loop.
func withThreadOfLoop(_ body: @escaping @Sendable (SocketEventLoop) throws -> Void) async throws {
  try await blocking {
    let loop = try SocketEventLoop(name: "test")
    defer { loop.end {} }
    try body(loop)
    try loop.endAndWait()
  }
}

/// Performs a test with a channel.
func withBench(
  _ manner: Manner, opens: Bool = true, _ body: @escaping @Sendable (Bench) throws -> Void
) async throws {
  try await withThreadOfLoop { loop in
    let bench = try Bench.add(manner, on: loop)
    if opens { try bench.open() }
    try body(bench)
  }
}
