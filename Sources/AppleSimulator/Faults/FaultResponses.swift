import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

extension OrderedFault {
  /// Waits, or returns the faulty response.
  ///
  /// - Returns: nil if the request is handled as usual.
  func response() async throws -> Response? {
    switch kind {
    case .slow:
      try await Task.sleep(for: .milliseconds(min(max(milliseconds ?? 3_000, 0), 600_000)))
      return nil
    case .status:
      let code = min(max(status ?? 500, 200), 599)
      return .page(Self.troublePage, status: HTTPResponse.Status(code: code), reason: "fault: status \(code)")
    case .html:
      return .page(Self.troublePage, reason: "fault: html")
    case .endlessJSON:
      return Self.streamed(length: nil) { writer in
        try await writer.write(ByteBuffer(string: #"{"keys":["#))
        let chunk = ByteBuffer(string: String(repeating: #"{"kid":"endless"},"#, count: 4_000))
        while !Task.isCancelled { try await writer.write(chunk) }
      }
    case .deepJSON:
      return .bytes(
        Data(repeating: UInt8(ascii: "["), count: 100_000), type: Self.json, reason: "fault: deep-json")
    case .truncatedJSON:
      return .bytes(
        Data(#"{"access_token":"a","keys":[{"kty":"RS"#.utf8), type: Self.json, reason: "fault: truncated-json")
    case .empty:
      return .bytes(Data(), type: Self.json, reason: "fault: empty")
    case .emptyObject:
      return .bytes(Data("{}".utf8), type: Self.json, reason: "fault: empty-object")
    case .cut:
      return Self.streamed(length: 5_000) { writer in
        try await writer.write(ByteBuffer(string: #"{"keys":["#))
        throw ConnectionCut()
      }
    case .emptyKeySet:
      return try Response.json(["keys": [String]()], reason: "fault: empty-key-set")
    case .refuse:
      var refusal = ["error": error ?? "invalid_request"]
      refusal["error_description"] = errorDescription
      return try Response.json(refusal, status: .badRequest, reason: "fault: refuse")
    }
  }

  private struct ConnectionCut: Error {}

  private static let json = "application/json;charset=UTF-8"

  private static func streamed(
    length: Int?, _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
  ) -> Response {
    Response(
      status: .ok, headers: [.contentType: json], body: ResponseBody(contentLength: length, write))
  }

  private static let troublePage = """
    <!doctype html>
    <html lang="en"><head><title>Trouble (Apple simulator)</title></head>
    <body><h1>Something went wrong</h1><p>A test ordered this page instead of an answer.</p></body></html>
    """
}
