// TOML for Swift, by toml++ (Debian's libtomlplusplus-dev, headers only). It is C++, whose exceptions and templates Swift
// cannot use; behind this header is C. What a parse allocates is freed before it returns.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Receives the values of a document, depth first. A table or an array is begun, its parts follow, and it is ended; the
/// parts of a table are each a key and a value. Texts are UTF-8, without a NUL at their end, and last until the function
/// returns.
typedef struct {
  /// Passed to each function.
  void *_Nullable context;
  void (*_Nonnull begin_table)(void *_Nullable context);
  void (*_Nonnull begin_array)(void *_Nullable context, size_t count);
  void (*_Nonnull end)(void *_Nullable context);
  void (*_Nonnull key)(void *_Nullable context, const char *_Nullable bytes, size_t count);
  void (*_Nonnull string)(void *_Nullable context, const char *_Nullable bytes, size_t count);
  void (*_Nonnull integer)(void *_Nullable context, int64_t value);
  void (*_Nonnull number)(void *_Nullable context, double value);
  void (*_Nonnull boolean)(void *_Nullable context, bool value);
  /// A date, a time, or both.
  void (*_Nonnull moment)(void *_Nullable context);
} CTOMLVisitor;

/// The first syntax error of a document.
typedef struct {
  /// UTF-8, ends with a NUL; cut off if it is longer.
  char message[1024];
  /// From 1; 0 if it is not known.
  uint32_t line;
  /// In characters, from 1; 0 if it is not known.
  uint32_t column;
} CTOMLError;

/// Parses a document of TOML 1.0, and shows it to the visitor if it has no error.
/// - Returns: false, and `error`, if it is none; the visitor is not called then.
bool ctoml_parse(
    const char *_Nullable bytes, size_t count, const CTOMLVisitor *_Nonnull visitor, CTOMLError *_Nonnull error);

#ifdef __cplusplus
}
#endif
