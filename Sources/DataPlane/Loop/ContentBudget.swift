/// Bounds the memory that the HTTP/2 connections of one event loop hold for content that waits. Used on that loop only.
///
/// Each connection has an ``allowance``, as an HTTP/1.1 connection does. Memory beyond the allowances, up to a mebibyte
/// for a connection, is for streams that wait for each other. Clients need no authorization to use it, so it is shared
/// by all connections of the loop and limited. When half of it is used, connections at their allowance get no more;
/// when all is used, the connection that holds most is closed. Slow clients and slow applications hold one read for
/// each response or request that has begun, which is hardly ever as much.
final class ContentBudget {
  /// The content that waits.
  enum Kind {
    /// Responses that clients do not read.
    case unsentResponses
    /// Bodies of requests that applications do not read.
    case unreadBodies
  }

  private let kind: Kind
  private let limit: Int
  private let memory: MemoryInUse
  private var bytes = 0
  private var holders: [ObjectIdentifier: Holder] = [:]

  private struct Holder {
    let owner: any ContentBudgetOwner
    var bytes: Int
  }

  /// Bytes beyond the allowances for the whole process, shared out among its loops; for each kind.
  static let processLimit = 64 << 20
  /// Bytes that a connection may hold in any case; of each kind.
  static let allowance = 64 << 10

  /// - Parameter memory: counts the bytes and the connections that are closed for them.
  init(_ kind: Kind, limit: Int, memory: MemoryInUse = .process) {
    self.kind = kind
    self.limit = limit
    self.memory = memory
  }

  /// Whether a connection should hold no more than the allowance.
  var isScarce: Bool { bytes > limit / 2 }

  /// Counts `count` bytes for `owner`, as many more than the allowance as it holds, in the place of what was counted
  /// before. May call ``ContentBudgetOwner/giveUp(_:)``, its own or that of others.
  func hold(_ count: Int, by owner: any ContentBudgetOwner) {
    let key = ObjectIdentifier(owner)
    change(by: count - (holders[key]?.bytes ?? 0))
    holders[key] = count > 0 ? Holder(owner: owner, bytes: count) : nil
    while bytes > limit, let most = holders.max(by: { $0.value.bytes < $1.value.bytes }) {
      holders[most.key] = nil
      change(by: -most.value.bytes)
      memory.countClosure(for: kind)
      most.value.owner.giveUp(kind)
    }
  }

  private func change(by difference: Int) {
    bytes += difference
    memory.content.change(by: difference)
  }
}

extension ContentBudget {
  /// The number of bytes that a connection is counted with.
  struct Count {
    /// nil when the connection is counted no longer.
    private var bytes: Int? = 0

    /// - Parameter held: all bytes that the connection holds.
    /// - Returns: the bytes to be counted for it by ``ContentBudget/hold(_:by:)`` where they are others than before.
    @inline(__always)
    mutating func change(to held: Int) -> Int? {
      guard let counted = bytes else { return nil }
      let count = max(0, held - ContentBudget.allowance)
      guard count != counted else { return nil }
      bytes = count
      return count
    }

    /// The connection is counted no longer.
    /// - Returns: whether it has been counted with some.
    mutating func end() -> Bool { bytes.take() ?? 0 > 0 }
  }
}

/// A connection that holds content.
protocol ContentBudgetOwner: AnyObject {
  /// Ends the connection soon, not within the call, and counts nothing of this kind for it any longer.
  func giveUp(_ kind: ContentBudget.Kind)
}
