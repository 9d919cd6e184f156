import RandomTesting
import Testing

@testable import Operations

@Suite("Numbers in lines")
struct NumberTextTests {
  private func decimal(_ number: UInt64, width: Int) -> String {
    var out: [UInt8] = []
    Decimal.append(number, width: width, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  @Test("A number is written in decimal with all of its digits, and with zeros before it up to a width")
  func decimals() {
    var numbers: [UInt64] = [0, .max]
    var power: UInt64 = 1
    while power <= .max / 10 {
      numbers += [power - 1, power, power + 1, 7 * (power / 10) + 3]
      power *= 10
    }
    var random = SeededNumbers(seed: 1)
    for shift in 0..<640 as Range<UInt64> {
      numbers.append(random.next() >> (shift % 64))
    }
    for number in numbers {
      let digits = String(number)
      for width in [1, 2, 3, 6, 8, 9, 20] {
        let zeros = String(repeating: "0", count: max(0, width - digits.count))
        #expect(decimal(number, width: width) == zeros + digits)
      }
    }
  }

  @Test("A pseudonym is written as sixteen hexadecimal digits")
  func hexadecimal() {
    for number: UInt64 in [0, 9, 0xA, 0x0123_4567_89AB_CDEF, .max] {
      var line = LogBuffer()
      line.append(hexadecimal: number)
      let digits = String(number, radix: 16)
      line.withBytes { bytes in
        let text = String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        #expect(text == String(repeating: "0", count: 16 - digits.count) + digits)
      }
    }
  }
}
