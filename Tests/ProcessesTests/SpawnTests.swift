import Foundation
import Glibc
import TemporaryDirectoryTesting
import Testing

@testable import Processes

// Cases: descriptors and output; the environment; the process group; a program that is missing.

@Suite("Starting programs")
struct SpawnTests {
  /// Runs a script of the shell to its end, and returns what it wrote.
  private func run(_ script: String, adjust: (inout Spawn) -> Void = { _ in }) throws -> String {
    let folder = try TemporaryDirectory()
    let file = folder.file("output")
    var spawn = Spawn("/bin/sh", ["-c", script], output: .file(file))
    adjust(&spawn)
    let pid = try spawn.start()
    var status: Int32 = 0
    while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
    #expect(status == 0)
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  @Test("A program finds the descriptors that are passed on from 3, and no others")
  func descriptors() throws {
    // Not marked to be closed: the program would inherit them.
    let opened = (0..<4).map { _ in open("/dev/null", O_RDONLY) }
    defer { for descriptor in opened { close(descriptor) } }
    let script = "for n in 0 1 2 3 4 5 6 7 8 9 10 11 12; do if [ -e /proc/$$/fd/$n ]; then echo $n; fi; done"
    #expect(try run(script) == "0\n1\n2\n")
    let passed = try run(script) { $0.inherited = [opened[3], opened[0]] }
    #expect(passed == "0\n1\n2\n3\n4\n")
  }

  @Test("A program does not find an open descriptor with a high number")
  func highDescriptor() throws {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
    let null = open("/dev/null", O_RDONLY)
    defer { close(null) }
    let high = fcntl(null, F_DUPFD, 3_000)
    try #require(high >= 3_000)
    defer { close(high) }
    #expect(try run("if [ -e /proc/$$/fd/\(high) ]; then echo open; fi; echo end") == "end\n")
  }

  @Test("Standard error goes to the file of standard output, which is appended to or emptied")
  func files() throws {
    let folder = try TemporaryDirectory()
    let file = folder.file("output")
    let runs: [(Spawn.Output, String)] = [
      (.file(file), "a\n"), (.file(file), "a\na\n"), (.emptiedFile(file), "a\n"),
    ]
    for (output, text) in runs {
      let pid = try Spawn("/bin/sh", ["-c", "echo a >&2"], output: output).start()
      while waitpid(pid, nil, 0) == -1 && errno == EINTR {}
      #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }
  }

  @Test("A program has this process's environment unless it gets another one")
  func environment() throws {
    let other = try run("echo $HOME-$CORDON_TEST") { $0.environment = ["CORDON_TEST=x"] }
    #expect(other == "-x\n")
    let path = try #require(ProcessInfo.processInfo.environment["PATH"])
    #expect(try run("echo $PATH") == "\(path)\n")
  }

  @Test("A program has a process group of its own, or this process's")
  func group() throws {
    let script = "cut -d ' ' -f 5 /proc/$$/stat; echo $$"
    let own = try run(script).split(separator: "\n")
    #expect(own.count == 2 && own[0] == own[1])
    let shared = try run(script) { $0.hasOwnGroup = false }.split(separator: "\n")
    #expect(shared.first.map(String.init) == "\(getpgrp())")
  }

  @Test("A program that is missing is not started")
  func missing() {
    #expect(throws: SpawnError(errnoCode: ENOENT)) {
      _ = try Spawn("/nowhere/program", [], output: .file("/dev/null")).start()
    }
    #expect(SpawnError(errnoCode: ENOENT).reason == "No such file or directory")
  }
}
