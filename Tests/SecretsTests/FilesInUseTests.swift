import Foundation
import Testing

@testable import Secrets

@Suite("Files in use")
struct FilesInUseTests {
  @Test("A file is in use from the beginning of its use to the end, and the oldest use is told")
  func oldest() {
    let path = "/nowhere/\(UUID().uuidString)"
    let before = SuspendingClock.now
    let oldest = FilesInUse.during(path) { () -> FilesInUse.Use? in
      // Files that other tests use at the moment are older.
      let end = ContinuousClock.now + .seconds(120)
      while ContinuousClock.now < end {
        if let oldest = FilesInUse.oldest, oldest.path == path { return oldest }
        usleep(1_000)
      }
      return nil
    }
    #expect(oldest.map { $0.began >= before } == true)
    #expect(FilesInUse.oldest?.path != path)
  }
}
