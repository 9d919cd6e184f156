import HTTPTypes
import Testing

@testable import DataPlane

@Suite("Errors for callers of gRPC")
struct GRPCStatusTests {
  @Test(
    "Each error has the code that gRPC gives its HTTP status",
    arguments: [
      (400, 13), (401, 16), (403, 7), (404, 12), (408, 4), (413, 2), (429, 14), (500, 2), (502, 14), (503, 14),
      (504, 14),
    ])
  func codes(_ status: Int, _ code: Int) throws {
    let answer = GRPCStatus.answer(ControlResponse(.init(code: status), body: Array("a page".utf8)))
    let name = try #require(HTTPField.Name("grpc-status"))
    #expect(answer.head.status.code == 200 && answer.body.isEmpty)
    #expect(answer.head.headerFields[name] == "\(code)")
    #expect(answer.head.headerFields[.contentType] == "application/grpc")
  }

  @Test("An answer that is not an error stays as it is", arguments: [200, 204, 302])
  func others(_ status: Int) {
    let answer = GRPCStatus.answer(ControlResponse(.init(code: status), body: [1]))
    #expect(answer.head.status.code == status && answer.body == [1])
  }
}
