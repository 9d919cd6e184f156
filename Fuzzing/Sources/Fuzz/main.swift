import CLibFuzzer
import Glibc
import Invariants

// fuzz TARGET [libFuzzer's options and folders]: looks for bytes for which an invariant does not hold.
// Without arguments it lists the targets, one a line.

guard CommandLine.argc > 1, let target = Invariant.all.first(where: { $0.name == CommandLine.arguments[1] }) else {
  for invariant in Invariant.all { print(invariant.name) }
  exit(CommandLine.argc > 1 ? EX_USAGE : EXIT_SUCCESS)
}
Target.current = target

var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
exit(
  LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in Target.run(UnsafeBufferPointer(start: bytes, count: count))
  })
