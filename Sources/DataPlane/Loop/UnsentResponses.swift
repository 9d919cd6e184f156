/// Bounds the memory that the HTTP/2 connections of one event loop hold for clients that do not read. Used on that loop
/// only.
///
/// Each connection may hold ``allowance``, as an HTTP/1.1 connection does. What they hold beyond it is for streams that
/// wait for each other, up to a mebibyte for a connection, and clients need no authorization for it. So it has a limit
/// for all together: from half of it on, applications are read only for what is within the allowance, and beyond it the
/// connection that holds most is ended. Slow clients hold a read for each response that has begun, hardly ever so much.
final class UnsentResponses {
  private let limit: Int
  private let memory: MemoryInUse
  private var bytes = 0
  private var holders: [ObjectIdentifier: Holder] = [:]

  private struct Holder {
    let owner: any UnsentResponseOwner
    var bytes: Int
  }

  /// Bytes beyond the allowances for the whole process, shared out among its loops.
  static let processLimit = 64 << 20
  /// Bytes that a connection may hold in any case.
  static let allowance = 64 << 10

  /// - Parameter memory: counts the bytes and the connections that are closed for them.
  init(limit: Int, memory: MemoryInUse = .process) {
    self.limit = limit
    self.memory = memory
  }

  /// Whether a connection should hold no more than the allowance.
  var areScarce: Bool { bytes > limit / 2 }

  /// Counts `count` bytes for `owner`, as many more than the allowance as it holds, in the place of what was counted
  /// before. May call ``UnsentResponseOwner/giveUpResponses()``, its own or that of others.
  func hold(_ count: Int, by owner: any UnsentResponseOwner) {
    let key = ObjectIdentifier(owner)
    change(by: count - (holders[key]?.bytes ?? 0))
    holders[key] = count > 0 ? Holder(owner: owner, bytes: count) : nil
    while bytes > limit, let most = holders.max(by: { $0.value.bytes < $1.value.bytes }) {
      holders[most.key] = nil
      change(by: -most.value.bytes)
      memory.countUnsentClosure()
      most.value.owner.giveUpResponses()
    }
  }

  private func change(by difference: Int) {
    bytes += difference
    memory.changeResponses(by: difference)
  }
}

/// A connection that holds responses for its client.
protocol UnsentResponseOwner: AnyObject {
  /// Ends the connection soon, not within the call, and counts nothing for it any longer.
  func giveUpResponses()
}
