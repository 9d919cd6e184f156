import Testing

@testable import Secrets

@Suite("Secrets of any kind")
struct SecretTests {
  private enum Kind {}

  private func shown(_ value: some Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return "\(value) \(String(reflecting: value)) \(dumped) \([value]) \(["key": value]) \(Optional(value) as Any)"
  }

  @Test("A secret shows nothing of itself, however it or what carries it is printed")
  func showsNothing() {
    struct Carrier { let secret: Secret<Kind> }
    let secret = Secret<Kind>("hunter2")
    for text in [shown(secret), shown(Carrier(secret: secret)), shown((secret, 1))] {
      // 104, 117 are its first bytes.
      #expect(!text.contains("hunter2") && !text.contains("104") && !text.contains("117"), "\(text)")
    }
    #expect(Mirror(reflecting: secret).children.isEmpty)
  }

  @Test("A secret is not a Codable value, so that no encoder writes it by accident")
  func isNotCodable() {
    #expect(!((Secret<Kind>("a") as Any) is any Encodable))
    #expect(!((Secret<Kind>("a") as Any) is any Decodable))
  }

  @Test("A secret is read by one verb, as text and as bytes")
  func exposed() {
    #expect(Secret<Kind>("é").exposed == "é" && Secret<Kind>("é").exposedBytes == [0xC3, 0xA9])
    #expect(Secret<Kind>([0xFF, 0x00]).exposedBytes == [0xFF, 0x00])
  }

  @Test("Secrets are equal byte by byte only")
  func equality() {
    #expect(Secret<Kind>("a") == Secret<Kind>("a") && Secret<Kind>("a") != Secret<Kind>("b"))
    #expect(Secret<Kind>("\u{E9}") != Secret<Kind>("e\u{301}"))
    #expect(Secret<Kind>("abc").matches("abc".utf8) && !Secret<Kind>("abc").matches("ab".utf8))
    #expect(Set([Secret<Kind>("a"), Secret<Kind>("a"), Secret<Kind>("b")]).count == 2)
  }
}
