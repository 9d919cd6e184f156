import Testing

@testable import Secrets

@Suite("Constant-time comparison")
struct ConstantTimeTests {
  @Test("Equal bytes are equal, and a difference in any one bit or in length is not")
  func comparison() {
    let secret: [UInt8] = [0, 1, 127, 128, 255]
    #expect(ConstantTime.equal(secret, secret))
    #expect(ConstantTime.equal([UInt8](), [UInt8]()))
    #expect(!ConstantTime.equal(secret, secret.dropLast()))
    for index in secret.indices {
      for bit in 0..<8 {
        var other = secret
        other[index] ^= 1 << bit
        #expect(!ConstantTime.equal(secret, other))
      }
    }
  }
}
