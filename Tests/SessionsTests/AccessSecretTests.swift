import Sessions
import Testing

@Suite("Secrets of access")
struct AccessSecretTests {
  @Test("Neither the key of a store nor the code of an invitation is printed")
  func printed() throws {
    let key = try #require(StoreKey(bytes: Array(repeating: 201, count: StoreKey.byteCount)))
    #expect(texts(of: key).allSatisfy { !$0.contains("201") })
    let code = InvitationCode.random()
    #expect(texts(of: code).allSatisfy { !$0.contains(code.exposedText) })
    #expect(key.exposedBytes.count == StoreKey.byteCount && InvitationCode(code.exposedText)?.hash == code.hash)
  }

  @Test("A machine token with any character changed, cut, extended, or of another store is refused")
  func changedTokens() throws {
    let key = StoreKey.random()
    let token = MachineTokenText.random(key)
    let text = Array(token.text.utf8)
    #expect(text.count == MachineTokenText.length)
    #expect(MachineTokenText.verify(text, key) == token.handle)
    #expect(MachineTokenText.verify(text, StoreKey.random()) == nil)
    #expect(MachineTokenText.verify("".utf8, key) == nil)
    for index in text.indices {
      for bit in 0..<8 {
        var changed = text
        changed[index] ^= 1 << bit
        #expect(MachineTokenText.verify(changed, key) == nil, "byte \(index), bit \(bit)")
      }
      #expect(MachineTokenText.verify(text[..<index], key) == nil)
      #expect(MachineTokenText.verify(text[(index + 1)...], key) == nil)
    }
    for extra in ["A", "AAAA", "=", " ", "\n"] {
      #expect(MachineTokenText.verify(text + Array(extra.utf8), key) == nil)
      #expect(MachineTokenText.verify(Array(extra.utf8) + text, key) == nil)
    }
  }

  @Test("The code of an invitation is 16 bytes in base64url, in their one form")
  func invitationCodes() {
    #expect(InvitationCode("AAECAwQFBgcICQoLDA0ODw")?.exposedText == "AAECAwQFBgcICQoLDA0ODw")
    for other in [
      "", "AAECAwQFBgcICQoLDA0O", "AAECAwQFBgcICQoLDA0ODxA", "AAECAwQFBgcICQoLDA0ODx", "AAECAwQFBgcICQoLDA0ODw==",
      " AAECAwQFBgcICQoLDA0ODw", "AAECAwQFBgcICQoLDA0OD+",
    ] {
      #expect(InvitationCode(other) == nil, "\(other)")
    }
  }

  private func texts(of value: some Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(reflecting: value), dumped]
  }
}
