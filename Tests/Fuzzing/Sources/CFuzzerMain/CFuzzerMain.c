#include "CFuzzerMain.h"

#include <stddef.h>
#include <stdint.h>

// In libFuzzer.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
// In Fuzzers.swift.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int Fuzzers_main(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }
