internal import CLinux
internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The things that a descriptor is ready for (epoll_ctl(2)).
struct Readiness: OptionSet {
  let rawValue: UInt32

  /// Bytes, a connection, or the end of the input.
  static let input = Readiness(rawValue: EPOLLIN.rawValue)
  /// Room for bytes.
  static let output = Readiness(rawValue: EPOLLOUT.rawValue)
  /// An urgent byte, at which a read ends although more has come.
  static let urgent = Readiness(rawValue: EPOLLPRI.rawValue)
  /// The peer sends nothing more.
  static let inputEnd = Readiness(rawValue: EPOLLRDHUP.rawValue)
  /// Both directions have ended. Reported whether or not it is asked for.
  static let hangUp = Readiness(rawValue: EPOLLHUP.rawValue)
  /// The socket has failed. Reported whether or not it is asked for.
  static let error = Readiness(rawValue: EPOLLERR.rawValue)

  /// Reported once for each change, not for as long as it lasts.
  static let edges = Readiness(rawValue: EPOLLET.rawValue)

  /// Everything that concerns the input of a connection.
  static let stream: Readiness = [.input, .urgent, .inputEnd]

  /// Nothing more comes.
  static let end: Readiness = [.inputEnd, .hangUp, .error]
}

/// A descriptor that an event loop waits for.
protocol PolledDescriptor: AnyObject {
  func ready(_ readiness: Readiness)
  /// Closes the descriptor, because its loop ends.
  func loopEnds()
}

/// The descriptors of one event loop, and the system's answers to what they are ready for.
///
/// The system's answers name a descriptor and the number of its registration: an answer for a descriptor that has been
/// closed since, and whose number another one has now, is discarded.
struct EpollSet: ~Copyable {
  private let epoll: CInt
  private let answers: UnsafeMutableBufferPointer<epoll_event>
  /// Indexed by the descriptor.
  private var members: [(any PolledDescriptor)?] = []
  private var numbers: [UInt32] = []
  private var lastNumber: UInt32 = 0
  private(set) var count = 0

  /// Most answers of one call.
  private static let answerCount = 256

  /// - Throws: `IOError`.
  init() throws {
    epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
    guard epoll >= 0 else { throw IOError(errnoCode: errno, reason: "epoll_create1") }
    answers = .allocate(capacity: Self.answerCount)
  }

  deinit {
    close(epoll)
    answers.deallocate()
  }

  /// - Throws: `IOError`.
  mutating func add(_ member: any PolledDescriptor, _ descriptor: CInt, for interest: Readiness) throws {
    let place = Int(descriptor)
    if place >= members.count {
      let more = place + 1 - members.count
      members.append(contentsOf: repeatElement(nil, count: more))
      numbers.append(contentsOf: repeatElement(0, count: more))
    }
    // Of a descriptor that is registered already, the number stays: its answers are still to reach their member.
    try control(EPOLL_CTL_ADD, descriptor, interest, number: lastNumber &+ 1)
    lastNumber &+= 1
    numbers[place] = lastNumber
    members[place] = member
    count += 1
  }

  /// - Throws: `IOError`.
  func change(_ descriptor: CInt, to interest: Readiness) throws {
    try control(EPOLL_CTL_MOD, descriptor, interest, number: numbers[Int(descriptor)])
  }

  /// Hands a descriptor that was added over to another member.
  mutating func handOver(_ descriptor: CInt, to member: any PolledDescriptor) { members[Int(descriptor)] = member }

  /// Forgets a descriptor that stays open.
  mutating func remove(_ descriptor: CInt) {
    try? control(EPOLL_CTL_DEL, descriptor, [], number: 0)
    forget(descriptor)
  }

  /// Forgets a descriptor that is closed next, by which the system forgets it, too.
  mutating func forget(_ descriptor: CInt) {
    guard members.indices.contains(Int(descriptor)), members[Int(descriptor)] != nil else { return }
    members[Int(descriptor)] = nil
    count -= 1
  }

  /// The members, in no particular order.
  var all: [any PolledDescriptor] { members.compactMap { $0 } }

  private func control(
    _ operation: CInt, _ descriptor: CInt, _ interest: Readiness, number: UInt32
  ) throws {
    var event = epoll_event()
    event.events = interest.rawValue
    event.data.u64 = UInt64(number) << 32 | UInt64(UInt32(bitPattern: descriptor))
    guard epoll_ctl(epoll, operation, descriptor, &event) == 0 else {
      throw IOError(errnoCode: errno, reason: "epoll_ctl")
    }
  }

  /// Waits until a descriptor is ready.
  /// - Parameter limit: milliseconds; -1 for as long as it takes.
  /// - Returns: how many answers there are.
  func wait(atMost limit: CInt) -> Int {
    Int(max(0, epoll_wait(epoll, answers.baseAddress, CInt(Self.answerCount), limit)))
  }

  /// One of the last call's answers; nil if its descriptor was forgotten since.
  @inline(__always)
  func answer(_ index: Int) -> (member: any PolledDescriptor, readiness: Readiness)? {
    let event = answers[index]
    let place = Int(UInt32(truncatingIfNeeded: event.data.u64))
    guard numbers[place] == UInt32(truncatingIfNeeded: event.data.u64 >> 32), let member = members[place] else {
      return nil
    }
    return (member, Readiness(rawValue: event.events))
  }
}
