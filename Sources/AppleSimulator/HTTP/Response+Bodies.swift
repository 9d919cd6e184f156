import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
  /// JSON that must not be stored (RFC 6749, 5.1).
  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok, reason: String? = nil) throws -> Response
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    // With a line end, for readers on a terminal.
    return bytes(
      try encoder.encode(value) + [0x0A], type: "application/json;charset=UTF-8", status: status, reason: reason)
  }

  /// A page. Its styles and scripts are inline; it loads nothing.
  static func page(_ html: String, status: HTTPResponse.Status = .ok, reason: String? = nil) -> Response {
    var response = bytes(Data(html.utf8), type: "text/html;charset=UTF-8", status: status, reason: reason)
    response.headers[.contentSecurityPolicy] =
      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
      + "frame-ancestors 'none'"
    return response
  }

  /// A 302, which is what Apple answers.
  static func found(_ location: String) -> Response {
    Response(status: .found, headers: [.location: location, .cacheControl: "no-store"])
  }

  /// Bytes of some type.
  ///
  /// - Parameter reason: the reason for a refusal, for the simulator's request log. Apple does not send it; here it is
  ///   in a separate field, which clients must not read.
  static func bytes(
    _ data: Data, type: String, status: HTTPResponse.Status = .ok, reason: String? = nil
  ) -> Response {
    var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
    if let reason, let name = HTTPField.Name(Self.reasonField) { headers[name] = reason }
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// The name of the field that says why.
  static let reasonField = "X-Simulator-Reason"
}
