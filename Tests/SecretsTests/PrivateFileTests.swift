import Foundation
import Glibc
import Synchronization
import TemporaryDirectoryTesting
import Testing

@testable import Secrets

// One permission rule for every secret, judged on the descriptor that is read.

@Suite("Private files")
struct PrivateFileTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func write(_ text: String, mode: Int, name: String = "secret") throws -> String {
    try folder.write(text, to: name, mode: mode)
  }

  private func error(_ path: String, limit: Int = 64) -> PrivateFileError.Reason? {
    do throws(PrivateFileError) {
      _ = try PrivateFile.read(path, limit: limit)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test(
    "A file that only its owner, or its owner and a group that cannot write, may read is read",
    arguments: [
      0o400, 0o600, 0o440, 0o640,
    ])
  func privateModes(mode: Int) throws {
    let path = try write("secret", mode: mode)
    #expect(try PrivateFile.read(path, limit: 64) == Array("secret".utf8))
  }

  @Test(
    "A file that others have any access to, or that its group may write, is refused with chmod",
    arguments: [
      0o644, 0o604, 0o444, 0o601, 0o602, 0o620, 0o660, 0o666, 0o777,
    ])
  func exposedModes(mode: Int) throws {
    let path = try write("secret", mode: mode)
    #expect(error(path) == .exposed(mode: UInt32(mode)))
    let exposed = PrivateFileError(path: path, reason: .exposed(mode: UInt32(mode)))
    #expect(exposed.remedy { "'\($0)'" }.hasPrefix("chmod g-w,o= '\(path)' "))
    #expect(exposed.description.hasPrefix("\(path) has mode 0\(String(mode, radix: 8)), "))
  }

  @Test("A directory, a device and a FIFO without a writer are refused at once")
  func notRegular() throws {
    #expect(error(folder.path) == .notRegular)
    #expect(error("/dev/zero") == .notRegular)
    let fifo = folder.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    #expect(error(fifo) == .notRegular)
  }

  @Test("A file is read up to its limit, and refused beyond it")
  func limit() throws {
    let path = try write(String(repeating: "x", count: 64), mode: 0o600)
    #expect(error(path, limit: 64) == nil)
    #expect(error(path, limit: 63) == .tooLong(limit: 63))
    #expect(error(try write("", mode: 0o600, name: "empty"), limit: 0) == nil)
  }

  @Test("A file is read whole, also one that takes several reads")
  func large() throws {
    let text = String(repeating: "0123456789", count: 5_000)
    let path = try write(text, mode: 0o600, name: "large")
    #expect(try PrivateFile.read(path, limit: 50_000) == Array(text.utf8))
  }

  @Test("A missing file is distinguished from one that cannot be read")
  func missing() {
    #expect(error(folder.file("nothing")) == .missing)
    let loop = folder.file("loop")
    #expect(symlink(loop, loop) == 0)
    guard case .unreadable = error(loop) else {
      Issue.record("a symbolic link to itself was read")
      return
    }
  }

  @Test("An error of the machine while a file is read is distinguished from one of the file")
  func failed() {
    // Nothing is mapped at the beginning of a process's memory: EIO.
    #expect(error("/proc/self/mem") == .failed("Input/output error"))
    #expect(PrivateFileError(path: "f", reason: .failed("")).isTransient)
    #expect(!PrivateFileError(path: "f", reason: .unreadable("")).isTransient)
  }

  @Test("A link that is exchanged while it is read never yields the contents of an exposed file")
  func exchangedLink() throws {
    let good = try write("good", mode: 0o600, name: "good")
    let exposed = try write("exposed", mode: 0o644, name: "exposed")
    let link = folder.file("link")
    let isOver = Flag()
    let swapper = Thread {
      var turn = 0
      while !isOver.isSet {
        let next = "\(link)-\(turn % 2)"
        unlink(next)
        if symlink(turn % 2 == 0 ? good : exposed, next) == 0 { rename(next, link) }
        turn += 1
      }
    }
    #expect(symlink(good, link) == 0)
    swapper.start()
    defer { isOver.set() }
    for _ in 0..<5_000 {
      do throws(PrivateFileError) {
        #expect(try PrivateFile.read(link, limit: 64) == Array("good".utf8))
      } catch {
        #expect(error.reason == .exposed(mode: 0o644))
      }
    }
  }
}

/// A flag between two threads.
private final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}
