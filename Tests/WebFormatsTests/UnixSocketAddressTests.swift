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
    var (named, length) = (sockaddr_un(), socklen_t(MemoryLayout<sockaddr_un>.size))
    let isNamed = withUnsafeMutablePointer(to: &named) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(first, $0, &length) == 0 }
    }
    let bytes = withUnsafeBytes(of: &named.sun_path) { Array($0.prefix(name.utf8.count + 1)) }
    #expect(isNamed && bytes == [0] + Array(name.utf8), "a zero byte in the place of @")
    close(first)
    let again = try #require(bound(address))
    close(again)
    #expect(!FileManager.default.fileExists(atPath: name))
  }
}
