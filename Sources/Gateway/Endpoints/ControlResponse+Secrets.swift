internal import DataPlane
internal import HTTPTypes

extension ControlResponse {
  /// A redirect to an address that holds a secret, such as a state or a one-time code, which must not leak as a
  /// referrer.
  static func redirect(_ status: HTTPResponse.Status, toSecret location: String) -> ControlResponse {
    var response = redirect(status, to: location)
    response.head.headerFields[.referrerPolicy] = "no-referrer"
    return response
  }
}
