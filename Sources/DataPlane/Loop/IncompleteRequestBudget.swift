internal import NIOCore
internal import Synchronization

/// Bounds the memory that one event loop holds for incomplete requests: partial heads, requests read ahead of their
/// turn, handshakes, bodies that are collected (``CollectedBodyMemory``). Used on that loop only.
///
/// It is bounded because clients need no authorization for it. Beyond the limit the oldest holders give theirs up: an
/// honest request head is complete one round trip after it began, so that the oldest are hardly ever honest. Refusing
/// the newest would turn away new clients while attackers keep the memory.
final class IncompleteRequestBudget {
  private var limit: Int
  private let memory: MemoryInUse
  private var bytes = 0
  private var oldest: Holding?
  private var newest: Holding?

  /// Bytes for the whole process, shared out among its loops.
  static let processLimit = 64 << 20
  /// Bytes counted for a TLS handshake.
  static let handshake = 16 << 10

  /// - Parameter memory: counts the bytes and the requests that are ended for them.
  init(limit: Int, memory: MemoryInUse = .process) {
    self.limit = limit
    self.memory = memory
  }

  /// Raises the limit where it is lower.
  func raiseLimit(to count: Int) { limit = max(limit, count) }

  /// The memory counted for one owner.
  final class Holding {
    fileprivate let owner: any IncompleteRequestOwner
    fileprivate var bytes = 0
    fileprivate var newer: Holding?
    fileprivate unowned(unsafe) var older: Holding?

    fileprivate init(owner: any IncompleteRequestOwner) { self.owner = owner }
  }

  /// Counts what `owner` holds.
  /// - Parameter known: the value counted for it before.
  /// - Returns: the value that the owner stores before it calls ``makeRoom()``.
  func hold(_ count: Int, by owner: any IncompleteRequestOwner, _ known: Holding?) -> Holding {
    let one = known ?? append(Holding(owner: owner))
    change(by: count - one.bytes)
    one.bytes = count
    return one
  }

  private func append(_ one: Holding) -> Holding {
    one.older = newest
    newest?.newer = one
    newest = one
    if oldest == nil { oldest = one }
    return one
  }

  /// Has the oldest holders give up theirs until the rest is within the limit.
  func makeRoom() {
    while bytes > limit, let first = oldest {
      unlink(first)
      memory.countUnfinishedRefusal()
      first.owner.giveUpRequest()
    }
  }

  /// Counts an owner no longer.
  func release(_ holding: Holding) { unlink(holding) }

  private func unlink(_ one: Holding) {
    // One that was given up is no longer in the list.
    guard one.bytes >= 0 else { return }
    change(by: -one.bytes)
    one.bytes = -1
    if let older = one.older { older.newer = one.newer } else { oldest = one.newer }
    if let newer = one.newer { newer.older = one.older } else { newest = one.older }
    one.newer = nil
    one.older = nil
  }

  private func change(by difference: Int) {
    bytes += difference
    memory.heads.change(by: difference)
  }
}

/// A holder of memory for an incomplete request: a connection, or a body that is being collected.
protocol IncompleteRequestOwner: AnyObject {
  var incompleteRequests: IncompleteRequestBudget { get }
  /// The bytes counted for it; nil while it holds none.
  var holding: IncompleteRequestBudget.Holding? { get set }
  /// Releases the memory, and ends the connection or the request.
  func giveUpRequest()
}

extension IncompleteRequestOwner {
  /// Counts so many bytes for it. May call ``giveUpRequest()``, its own or that of others.
  func hold(_ count: Int) {
    holding = incompleteRequests.hold(count, by: self, holding)
    incompleteRequests.makeRoom()
  }

  /// Counts nothing for it any longer.
  @inline(__always)
  func releaseHolding() {
    guard let one = holding else { return }
    holding = nil
    incompleteRequests.release(one)
  }
}
