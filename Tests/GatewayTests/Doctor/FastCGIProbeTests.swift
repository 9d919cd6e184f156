import Testing

@testable import Gateway

@Suite("Finding FastCGI servers")
struct FastCGIProbeTests {
  @Test("Only a FastCGI record of no request is an answer, and a part of one decides nothing")
  func answers() {
    #expect(FastCGIProbe.isAnswer([1, 10, 0, 0, 0, 18, 6, 0, 15, 1]) == true)
    #expect(FastCGIProbe.isAnswer([1, 11, 0, 0, 0, 8, 0, 0]) == true)
    #expect(FastCGIProbe.isAnswer([1, 3, 0, 1, 0, 8, 0, 0]) == false)
    #expect(FastCGIProbe.isAnswer(Array("HTTP/1.1 400 Bad Request".utf8)) == false)
    #expect(FastCGIProbe.isAnswer([1, 10, 0]) == nil)
    #expect(FastCGIProbe.isAnswer([UInt8]()) == nil)
  }

  @Test("The question is one whole record without a line end")
  func question() {
    let question = FastCGIProbe.question
    #expect(question.count == 8 + Int(question[5]) + Int(question[6]))
    #expect(!question.contains(0x0A) && !question.contains(0x0D))
  }
}
