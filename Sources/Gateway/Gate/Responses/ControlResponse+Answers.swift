internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Pages

extension ControlResponse {
  /// A page, ready to be sent.
  init(_ page: RenderedPage) {
    var fields = HTTPFields()
    for field in page.fields {
      if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
    }
    if page.status == 401 { fields[.wwwAuthenticate] = AuthenticationChallenge.bearer }
    self.init(HTTPResponse.Status(integerLiteral: page.status), fields: fields, body: page.body)
  }

  /// A redirect that is kept nowhere.
  static func redirect(_ status: HTTPResponse.Status, to location: String) -> ControlResponse {
    ControlResponse(
      status, fields: [.location: location, .cacheControl: "no-store", .referrerPolicy: "same-origin"])
  }

  /// A redirect to the sign-in, for browsers and not for crawlers, which would begin one for each link.
  static func redirect(toSignIn address: String) -> ControlResponse {
    var response = redirect(.found, to: address)
    response.head.headerFields[.robotsTag] = "noindex, nofollow"
    return response
  }

  /// A JSON text.
  static func json(_ body: [UInt8]) -> ControlResponse {
    ControlResponse(
      .ok,
      fields: [
        .contentType: "application/json", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        .crossOriginResourcePolicy: "same-origin",
      ], body: body)
  }

  /// The JSON text of a plain value, its members sorted.
  /// - Parameter isForPeople: whether to indent it, with a line feed at its end.
  static func json(of value: some Encodable, isForPeople: Bool = false) -> ControlResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isForPeople { encoder.outputFormatting.insert(.prettyPrinted) }
    // Encoding plain values into memory does not fail; if it did, the answer would be an empty object, not a crash.
    guard let encoded = try? encoder.encode(value) else { return json(Array("{}".utf8)) }
    var text = Array(encoded)
    if isForPeople { text.append(0x0A) }
    return json(text)
  }

  /// Separates the window that shows the response from the page that opened it (HTML Living Standard, 7.1.3): for
  /// responses to whatever Apple's answer may be, since a page of the application, which has our origin, could read the
  /// authorization code in their address or form; and for the account page and the people page, which pages of other
  /// sites would otherwise share a process with. Not for sign-in pages: an application may open them in a window and
  /// wait for a message from it.
  func separatedFromOpener() -> ControlResponse {
    var response = self
    response.head.headerFields[.crossOriginOpenerPolicy] = "same-origin"
    return response
  }

  /// Adds a `Set-Cookie`.
  mutating func setCookie(_ cookie: String) { head.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
}

extension HTTPField.Name {
  static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
  static let crossOriginResourcePolicy = HTTPField.Name("Cross-Origin-Resource-Policy")!
  static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
  static let robotsTag = HTTPField.Name("X-Robots-Tag")!
  static let identityAssertion = HTTPField.Name(SessionAssertions.headerName)!
}
