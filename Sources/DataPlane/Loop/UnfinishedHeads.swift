internal import NIOCore
internal import Synchronization

/// The memory that is held on one event loop for what is no request yet: parts of heads, what was read ahead of its
/// turn, handshakes. Used on that loop only.
///
/// It is bounded, because nobody has to show anything for it. When it is too much, who has held some for longest gives
/// it up: an honest head is whole a round trip after it began, so that the oldest are hardly ever honest. Refusing the
/// newest instead would turn away whoever comes while others sit on the memory.
final class UnfinishedHeads {
  private let limit: Int
  private var bytes = 0
  private var oldest: Holding?
  private var newest: Holding?

  /// Bytes for the whole process, shared out among its loops.
  static let processLimit = 64 << 20
  /// What a TLS handshake is counted as.
  static let handshake = 16 << 10

  init(limit: Int) { self.limit = limit }

  /// What one connection holds.
  final class Holding {
    fileprivate let owner: any UnfinishedHeadOwner
    fileprivate var bytes = 0
    fileprivate var newer: Holding?
    fileprivate unowned(unsafe) var older: Holding?

    fileprivate init(owner: any UnfinishedHeadOwner) { self.owner = owner }
  }

  /// Counts what `owner` holds.
  /// - Parameter known: what was counted for it before.
  /// - Returns: what the owner keeps before it calls ``makeRoom()``.
  func hold(_ count: Int, by owner: any UnfinishedHeadOwner, _ known: Holding?) -> Holding {
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

  /// Has the oldest give up what they hold, as long as it is too much.
  func makeRoom() {
    while bytes > limit, let first = oldest {
      unlink(first)
      first.owner.giveUpHead()
    }
  }

  /// Nothing is held any more.
  func letGo(_ holding: Holding) { unlink(holding) }

  private func unlink(_ one: Holding) {
    // One that had to be given up is not in the list any more.
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
    MemoryInUse.process.changeHeads(by: difference)
  }
}

/// A connection that holds memory for what is no request yet.
protocol UnfinishedHeadOwner: AnyObject {
  /// Has to let go of it, and to end.
  func giveUpHead()
}
