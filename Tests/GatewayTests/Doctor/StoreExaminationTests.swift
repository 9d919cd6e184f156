import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("The doctor's examination of the store")
struct StoreExaminationTests {
  @Test("A large write-ahead log is a warning with its remedy, and one of the usual size, or none, is not")
  func largeLog() async throws {
    let store = MemoryStore()
    let site = SiteExamination(upstreams: [], acceptors: [], secretFiles: [])
    let keyring = try SessionKeyring.forTests("a")
    func finding(logBytes: Int?) async -> DoctorFinding {
      store.state.withLock { $0.logBytes = logBytes }
      return await site.store({ .open(store) }, keyring)
    }
    let unremarkable: [Int?] = [nil, 4 << 20, 256 << 20]
    for bytes in unremarkable {
      let found = await finding(logBytes: bytes)
      #expect(found.status == .ok)
    }
    let warning = await finding(logBytes: 300 << 20)
    #expect(warning.status == .warning && warning.seen.contains("300 MiB"))
    #expect(warning.remedy?.contains("fuser") == true)
  }
}
