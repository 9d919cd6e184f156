internal import CLinux
internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The bytes that a channel was given and the system has not taken, in order.
struct PendingWrites {
  struct Entry {
    var bytes: ByteBuffer
    let promise: EventLoopPromise<Void>?
  }

  /// The result of an attempt to send.
  enum Outcome: Equatable {
    /// Everything flushed was taken.
    case all
    /// The rest waits for room.
    case full
    /// - Parameter errno: the system's.
    case failed(CInt)
  }

  private var entries: [Entry] = []
  /// Entries before this one have left.
  private var first = 0
  /// Entries before this one may be sent.
  private var flushed = 0
  /// Bytes that have not left, whether flushed or not.
  private(set) var byteCount = 0

  /// Whether the system takes nothing until it reports room.
  private var isFull = false
  /// Whether handlers may write more: false above the high mark, until below the low one.
  private(set) var isWritable = true

  private static let highWaterMark = 64 * 1024
  private static let lowWaterMark = 32 * 1024
  /// Most bytes of an entry that grows.
  private static let mergeLimit = 64 * 1024
  /// Most buffers of one system call.
  private static let gatherLimit = 64

  init() {}

  var isEmpty: Bool { entries.isEmpty }
  var hasFlushed: Bool { first < flushed }
  /// Whether there is something to send, and the system may take it.
  var canSend: Bool { hasFlushed && !isFull }

  /// - Returns: whether that has made the queue unwritable.
  @discardableResult
  mutating func append(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?, spare: inout [Entry]) -> Bool {
    if !isFull || !mergeSmall(bytes, promise) {
      if entries.isEmpty, entries.capacity == 0 { swap(&entries, &spare) }
      entries.append(Entry(bytes: bytes, promise: promise))
    }
    byteCount += bytes.readableBytes
    guard isWritable, byteCount > Self.highWaterMark else { return false }
    isWritable = false
    return true
  }

  /// Copies a little that has to wait behind what waits already: it is mostly a part of a large buffer that it was read
  /// into, which each byte of a peer that sends them one by one would keep.
  /// - Returns: whether it needs no entry of its own any longer.
  private mutating func mergeSmall(_ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) -> Bool {
    guard hasEntries, promise == nil, entries[entries.count - 1].promise == nil else { return false }
    guard entries[entries.count - 1].bytes.readableBytes + bytes.readableBytes <= Self.mergeLimit else { return false }
    entries[entries.count - 1].bytes.writeImmutableBuffer(bytes)
    return true
  }

  /// Whether there are entries that have not left.
  private var hasEntries: Bool { first < entries.count }

  /// - Returns: whether the queue was unwritable, and is so no longer.
  mutating func becomeWritable() -> Bool {
    guard !isWritable, byteCount < Self.lowWaterMark else { return false }
    isWritable = true
    return true
  }

  /// The system takes bytes again.
  mutating func roomReported() { isFull = false }

  mutating func flush() { flushed = entries.count }

  /// Sends what was flushed, until the system takes no more.
  /// - Parameter spare: takes the memory of the queue when that is empty.
  /// - Returns: the promises of what has left, too, to be completed: by then the queue may be written to again.
  mutating func send(
    to socket: CInt, spare: inout [Entry]
  ) -> (outcome: Outcome, sent: [EventLoopPromise<Void>]) {
    var sent: [EventLoopPromise<Void>] = []
    while first < flushed {
      let count = flushed - first == 1 ? sendOne(to: socket) : gather(to: socket)
      if count < 0 {
        let code = errno
        if code == EINTR { continue }
        compact()
        isFull = true
        return (code == EAGAIN || code == EWOULDBLOCK ? .full : .failed(code), sent)
      }
      advance(by: count, &sent)
    }
    if first == entries.count {
      entries.removeAll(keepingCapacity: true)
      (first, flushed) = (0, 0)
      swap(&entries, &spare)
      entries = []
    }
    return (.all, sent)
  }

  /// Forgets the entries that have left: a queue that never becomes empty would keep the place of each for ever.
  private mutating func compact() {
    guard first >= Self.gatherLimit, first >= entries.count / 2 else { return }
    entries.removeFirst(first)
    flushed -= first
    first = 0
  }

  /// Removes everything, and returns the promises of it.
  mutating func takeAll() -> [EventLoopPromise<Void>] {
    defer {
      entries = []
      (first, flushed, byteCount) = (0, 0, 0)
    }
    return entries[first...].compactMap(\.promise)
  }

  private func sendOne(to socket: CInt) -> Int {
    entries[first].bytes.withUnsafeReadableBytes { SystemSocket.sendBytes(socket, $0) }
  }

  private func gather(to socket: CInt) -> Int {
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: Self.gatherLimit) { vectors in
      let count = min(flushed - first, Self.gatherLimit)
      for index in 0..<count {
        // The queue keeps the memory where it is until the call is over.
        vectors[index] = entries[first + index].bytes.withUnsafeReadableBytes { bytes in
          iovec(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
        }
      }
      var message = msghdr()
      message.msg_iov = vectors.baseAddress
      message.msg_iovlen = numericCast(count)
      return sendmsg(socket, &message, SystemSocket.sendFlags)
    }
  }

  private mutating func advance(by count: Int, _ sent: inout [EventLoopPromise<Void>]) {
    byteCount -= count
    var left = count
    while first < flushed {
      let length = entries[first].bytes.readableBytes
      guard length <= left else {
        entries[first].bytes.moveReaderIndex(forwardBy: left)
        return
      }
      left -= length
      if let promise = entries[first].promise { sent.append(promise) }
      // The memory of what has left is not kept until the rest has.
      entries[first].bytes = ByteBuffer()
      first += 1
    }
  }
}
