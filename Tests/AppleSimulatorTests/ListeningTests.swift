import AppleSimulator
import Testing

@Suite("The simulator's address")
struct ListeningTests {
  @Test("A port that is in use, and a host that is not this machine's, are refused with a remedy")
  func refusedAddresses() async throws {
    try await AppleSimulator(configuration: SimulatorConfiguration(port: 0)).whileRunning { address in
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      #expect(
        await refusal(of: "127.0.0.1", port: port) == """
          port \(port) of 127.0.0.1 is in use; choose another with --port, or 0 for any that is free
          """)
    }
    // TEST-NET-1 (RFC 5737) and a name of `.invalid` (RFC 6761), which no machine has.
    #expect(await refusal(of: "192.0.2.1", port: 0)?.hasPrefix("192.0.2.1 is no address of this machine") == true)
    #expect(await refusal(of: "nowhere.invalid", port: 0)?.hasPrefix("the host nowhere.invalid is unknown") == true)
  }

  private func refusal(of host: String, port: Int) async -> String? {
    do {
      try await AppleSimulator(configuration: SimulatorConfiguration(host: host, port: port)).runUntilSignalled()
      return nil
    } catch {
      return (error as? ListeningError)?.description
    }
  }
}
