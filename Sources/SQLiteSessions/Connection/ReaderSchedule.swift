/// The distribution of jobs to a bounded number of readers, or to the one writer: a value, without connections or
/// threads. Jobs that no reader is free for wait in line.
struct ReaderSchedule<Job> {
  /// Readers without a job, the one that had one last at the end: its cache is warm.
  private var idle: [Int]
  private var busy = 0
  private var queue: [Job] = []
  private var queueStart = 0
  private(set) var isClosed = false

  /// - Parameter readers: how many there are; they are numbered from 0.
  init(readers: Int) { idle = (0..<readers).reversed() }

  /// Whether no reader has a job.
  var isIdle: Bool { busy == 0 }

  /// The placement of a job.
  enum Placement: Equatable {
    case start(reader: Int)
    case queued
    /// No job is accepted any longer.
    case refused
  }

  mutating func place(_ job: Job) -> Placement {
    if isClosed { return .refused }
    if let reader = idle.popLast() {
      busy += 1
      return .start(reader: reader)
    }
    queue.append(job)
    return .queued
  }

  /// The next job of a reader that has done one; nil if it has nothing to do.
  mutating func next(for reader: Int) -> Job? {
    guard queueStart < queue.count else {
      (queue, queueStart) = ([], 0)
      idle.append(reader)
      busy -= 1
      return nil
    }
    defer { queueStart += 1 }
    return queue[queueStart]
  }

  /// Takes out every job that waits: none of them will be done.
  mutating func removeWaiting() -> [Job] {
    defer { (queue, queueStart) = ([], 0) }
    return Array(queue[queueStart...])
  }

  /// Refuses what comes from now on. What waits is still done.
  mutating func close() { isClosed = true }
}
