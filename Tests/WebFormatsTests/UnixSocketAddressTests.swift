import Foundation
import Testing
import WebFormats

@Suite("Addresses of Unix sockets")
struct UnixSocketAddressTests {
  @Test("A name is one to 107 bytes long")
  func lengths() {
    for (name, isGood) in [("", false), ("@", true), ("/run/x", true)] {
      #expect((UnixSocketAddress(name) != nil) == isGood, "\(name)")
    }
    #expect(UnixSocketAddress(String(repeating: "x", count: 107)) != nil)
    #expect(UnixSocketAddress(String(repeating: "x", count: 108)) == nil)
  }

  /// Binds a new socket; nil if the name is taken.
  private func bound(_ address: UnixSocketAddress) -> Int32? {
    address.withDatagramSocket { opened, address, length -> Int32? in
      if bind(opened, address.assumingMemoryBound(to: sockaddr.self), length) == 0 { return opened }
      #expect(errno == EADDRINUSE)
      close(opened)
      return nil
    } ?? nil
  }

  @Test("A name after @ is taken in the abstract namespace, until its socket is closed, and leaves no file")
  func abstract() throws {
    let name = "cordon-tests-\(UUID().uuidString)"
    let address = try #require(UnixSocketAddress("@" + name))
    let first = try #require(bound(address))
    #expect(bound(address) == nil)
    let text = try String(contentsOfFile: "/proc/net/unix", encoding: .utf8)
    #expect(text.contains("@\(name)\n"))
    close(first)
    let again = try #require(bound(address))
    close(again)
    #expect(!FileManager.default.fileExists(atPath: name))
  }
}
