import Testing

@testable import Secrets

@Suite("Erasure of secrets")
struct ErasureTests {
  @Test("An erased array holds zeros, in the memory that the secret was in")
  func zeros() {
    var secret = Array("a secret that is no longer needed".utf8)
    let place = secret.withUnsafeBytes { Int(bitPattern: $0.baseAddress) }
    secret.erase()
    #expect(secret == [UInt8](repeating: 0, count: 33))
    #expect(secret.withUnsafeBytes { Int(bitPattern: $0.baseAddress) } == place)
  }

  @Test("An empty array is erased, and the copy of another owner is kept")
  func copies() {
    var nothing: [UInt8] = []
    nothing.erase()
    #expect(nothing.isEmpty)
    let kept: [UInt8] = [1, 2, 3]
    var erased = kept
    erased.erase()
    #expect(kept == [1, 2, 3] && erased == [0, 0, 0])
  }
}
