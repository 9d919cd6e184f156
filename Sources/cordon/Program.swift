import ArgumentParser
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The entry of the program. It is synchronous: before the first line of an asynchronous one libdispatch makes threads,
/// ends the process if it does not find them in /proc, and waits without end if it cannot make them.
@main
enum Program {
  static func main() {
    do {
      try ResourceFloor.raiseDescriptors()
      try ResourceFloor.checkKernelFiles()
      CordonCommand.prepareProcess()
      try ResourceFloor.checkRuntimeThreads()
    } catch {
      CordonCommand.exit(withError: error)
    }
    Task {
      await CordonCommand.main()
      exit(0)
    }
    dispatchMain()
  }
}
