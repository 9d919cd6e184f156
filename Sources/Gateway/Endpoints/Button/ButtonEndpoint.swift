internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import WebFormats

/// `button`: the image of Apple's button, from our own origin.
struct ButtonEndpoint: Sendable {
  let button: AppleButton
  let pages: EndpointPages

  /// The endpoint for the gate.
  var action: EndpointAction { EndpointAction([.get: image], pages: pages) }

  /// `GET button?locale=&color=`.
  func image(_ request: ControlRequest) async -> ControlResponse {
    guard let images = button.images, let fields = try? request.query(),
      let locale = ButtonLocale.allCases.first(where: { fields.has("locale", $0.rawValue) }),
      fields.has("color", "white") || fields.has("color", "black")
    else { return pages.failure(.notFound, request) }
    let variant = button.variant(locale, isWhite: fields.has("color", "white"))
    guard let image = await images.image(variant, within: .seconds(5)) else {
      return pages.failure(.unavailable, request)
    }
    return ControlResponse(
      .ok,
      fields: [
        .contentType: "image/png", .cacheControl: "public, max-age=86400", .xContentTypeOptions: "nosniff",
        .contentSecurityPolicy: "default-src 'none'; sandbox", .crossOriginResourcePolicy: "same-origin",
      ], body: image.png)
  }
}

extension FormFields {
  /// Whether there is one field of this name, and it has this value, byte for byte.
  fileprivate func has(_ name: String, _ value: String) -> Bool {
    guard let found = try? self.value(of: name) else { return false }
    return found.elementsEqual(value.utf8)
  }
}
