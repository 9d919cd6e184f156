import Processes
import Testing

@Suite("The command line of the process")
struct ProcessArgumentsTests {
  private func complete(_ reported: [String], _ kernel: [String]) -> [String] {
    ProcessArguments.complete(reported, by: kernel.flatMap { Array($0.utf8) + [0] })
  }

  @Test("Process arguments that the runtime has lost come from the kernel, and those that it has are kept")
  func complete() {
    let whole = ["cordon", "run", "--config", "", "x"]
    #expect(complete([], whole) == whole)
    #expect(complete(["cordon"], whole) == whole)
    #expect(complete(whole, whole) == whole)
    #expect(complete(whole, []) == whole)
    #expect(complete(whole, ["/lib64/ld-linux-x86-64.so.2"] + whole) == whole, "started by the dynamic loader")
    #expect(complete([], []) == [])
    #expect(ProcessArguments.all == CommandLine.arguments)
  }
}
