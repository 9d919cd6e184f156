import Foundation
import TemporaryDirectoryTesting

/// Files that a process of the tests cannot read for a while, as on a mount whose server does not answer, or on a
/// system that has no descriptors left.
///
/// A few lines of C are between the process and its C library (`LD_PRELOAD`); a file of the tests has the trouble.
struct FaultyFiles: Sendable {
  private let directory: TemporaryDirectory

  /// The environment of a process that has the trouble.
  let environment: [String: String]

  /// The trouble of each use.
  enum Trouble {
    /// No call returns until the trouble is over.
    case hangs
    /// `open` fails with this error.
    case fails(Int32)
  }

  /// - Parameter part: of the paths that have the trouble.
  init(_ part: String) throws {
    directory = try TemporaryDirectory()
    environment = [
      "LD_PRELOAD": try Self.library.get().path, "CORDON_TEST_FAULTY": part,
      "CORDON_TEST_TROUBLE": "\(directory.path)/trouble",
    ]
  }

  private var mark: String { directory.file("trouble.met") }

  /// Begins the trouble, which nobody has met yet, or ends it with nil.
  func set(_ trouble: Trouble?) throws {
    let file = directory.file("trouble")
    if trouble != nil { try? FileManager.default.removeItem(atPath: mark) }
    switch trouble {
    case nil: try FileManager.default.removeItem(atPath: file)
    case .hangs: try directory.write("0", to: "trouble")
    case .fails(let code): try directory.write("\(code)", to: "trouble")
    }
  }

  /// Waits until the process has met the trouble.
  func waitUntilMet() throws {
    try poll("a use of a faulty file") { FileManager.default.fileExists(atPath: mark) ? () : nil }
  }

  private static let library = Result { try PreloadedLibrary(source) }

  private static let source = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <stdarg.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <unistd.h>

    typedef int (*opener)(const char *, int, ...);
    static opener real_open;

    // -1 for none, 0 for a call that does not return, or the error.
    static int trouble(const char *path) {
      const char *part = getenv("CORDON_TEST_FAULTY"), *file = getenv("CORDON_TEST_TROUBLE");
      if (!part || !file || !path || !strstr(path, part)) return -1;
      if (!real_open) real_open = (opener)dlsym(RTLD_NEXT, "open");
      int descriptor = real_open(file, O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) return -1;
      char text[16] = "0";
      ssize_t count = read(descriptor, text, sizeof text - 1);
      close(descriptor);
      // It is being written.
      if (count <= 0) return -1;
      text[count] = 0;
      return atoi(text);
    }

    static void mark(void) {
      char file[1024];
      snprintf(file, sizeof file, "%s.met", getenv("CORDON_TEST_TROUBLE"));
      int descriptor = real_open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      if (descriptor >= 0) close(descriptor);
    }

    static int meet(const char *path, int opens) {
      int code;
      while ((code = trouble(path)) == 0) {
        mark();
        usleep(20000);
      }
      if (code < 0 || !opens) return 0;
      mark();
      errno = code;
      return -1;
    }

    #define OPEN(NAME) \
      int NAME(const char *path, int flags, ...) { \
        static opener real; \
        if (!real) real = (opener)dlsym(RTLD_NEXT, #NAME); \
        va_list list; \
        va_start(list, flags); \
        int mode = va_arg(list, int); \
        va_end(list); \
        return meet(path, 1) ? -1 : real(path, flags, mode); \
      }
    OPEN(open)
    OPEN(open64)

    #define STAT(NAME, TYPE) \
      int NAME(const char *path, struct TYPE *status) { \
        static int (*real)(const char *, struct TYPE *); \
        if (!real) real = (int (*)(const char *, struct TYPE *))dlsym(RTLD_NEXT, #NAME); \
        meet(path, 0); \
        return real(path, status); \
      }
    STAT(stat, stat)
    STAT(stat64, stat64)
    """#
}
