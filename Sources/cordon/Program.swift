import ArgumentParser
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The entry of the program. It is synchronous: before the first line of an asynchronous one libdispatch has threads,
/// and may end the process.
@main
enum Program {
  static func main() {
    do {
      try ResourceFloor.raiseDescriptors()
      try ResourceFloor.checkKernelFiles()
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
