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

  private func texts(of value: some Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(reflecting: value), dumped]
  }
}
