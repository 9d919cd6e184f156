import Foundation
import TemporaryDirectoryTesting
import Testing

@testable import DataPlane

// Any file will do in the place of a socket: only its identity counts.
@Suite("The file of a listening socket")
struct SocketFileTests {
  private let folder: TemporaryDirectory
  private let path: String
  private let aside: String

  init() throws {
    folder = try TemporaryDirectory()
    path = folder.file("cordon.sock")
    aside = folder.file("aside")
    try Data().write(to: URL(fileURLWithPath: path))
  }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test("The file of a socket is removed, and that may be asked for twice")
  func removed() throws {
    let file = try #require(SocketFile(of: .unix(path: path), isInherited: false))
    file.remove()
    #expect(!exists(path))
    file.remove()
    #expect(file.state == .removed)
  }

  @Test("The file of a socket that another process has bound stays")
  func inherited() throws {
    try #require(SocketFile(of: .unix(path: path), isInherited: true)).remove()
    #expect(exists(path))
  }

  @Test("Another file in the place of a socket's stays, and so does a link to the socket's")
  func replaced() throws {
    let file = try #require(SocketFile(of: .unix(path: path), isInherited: false))
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try Data().write(to: URL(fileURLWithPath: path))
    file.remove()
    #expect(exists(path))
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: aside)
    #expect(file.state == .present)
    file.remove()
    #expect(exists(path) && exists(aside))
  }
}
