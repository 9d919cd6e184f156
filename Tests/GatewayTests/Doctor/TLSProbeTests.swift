import Testing

@testable import Gateway

@Suite("Finding TLS servers")
struct TLSProbeTests {
  @Test("A handshake record or an alert of any version of TLS is an answer, and a part of one decides nothing")
  func answers() {
    #expect(TLSProbe.isAnswer([22, 3, 3, 0, 84, 2]) == true)
    #expect(TLSProbe.isAnswer([21, 3, 1, 0, 2, 2, 70]) == true)
    #expect(TLSProbe.isAnswer(Array("HTTP/1.1 400 Bad Request".utf8)) == false)
    #expect(TLSProbe.isAnswer([1, 10, 0, 0]) == false)
    #expect(TLSProbe.isAnswer([21, 0x20]) == false)
    #expect(TLSProbe.isAnswer([22, 3, 9]) == false)
    #expect(TLSProbe.isAnswer([21, 3]) == nil)
    #expect(TLSProbe.isAnswer([UInt8]()) == nil)
  }

  @Test("The question is one whole record with one whole ClientHello")
  func question() {
    let question = TLSProbe.question
    #expect(question.starts(with: [22, 3, 1]) && question[5] == 1 && question[6] == 0)
    #expect(question.count == 5 + 256 * Int(question[3]) + Int(question[4]))
    #expect(question.count == 9 + 256 * Int(question[7]) + Int(question[8]))
    // Its last part, the extensions, ends with it, too.
    let place = 9 + 2 + 32 + 1 + 2 + 16 + 2
    #expect(question.count == place + 2 + 256 * Int(question[place]) + Int(question[place + 1]))
  }
}
