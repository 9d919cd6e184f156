#ifndef C_LIB_FUZZER_H
#define C_LIB_FUZZER_H

#include <stddef.h>
#include <stdint.h>

/// Runs libFuzzer (compiler-rt, FuzzerDriver.cpp) as its own `main` would, with `callback` as the target. The callback
/// returns 0, or -1 for an input that is not to join the corpus. It does not return when a finding ends the run.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *bytes, size_t count));

#endif
