import Crypto
import Foundation
import Testing

@testable import HTTPWire

@Suite("Answers to a WebSocket's key")
struct WebSocketAcceptTests {
  @Test("The key of RFC 6455, 1.3 has the response given there")
  func standard() {
    #expect(
      WebSocketAccept.answer(to: Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)) == Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8))
  }

  @Test("Keys of any length have the answer that another SHA-1 and another base64 give them")
  func others() {
    for count in 0..<200 {
      let key = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
      let digest = Insecure.SHA1.hash(data: Data(key + Array("258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
      #expect(WebSocketAccept.answer(to: key) == Array(Data(digest).base64EncodedString().utf8))
    }
  }
}
