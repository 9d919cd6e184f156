internal import WebFormats

/// A variant of the image, by the attributes that vary between visitors.
package struct ButtonVariant: Sendable, Hashable {
  /// The language of the words on it.
  package var locale: ButtonLocale
  /// For a dark page; black otherwise.
  package var isWhite: Bool

  /// Creates a variant.
  package init(locale: ButtonLocale, isWhite: Bool) {
    self.locale = locale
    self.isWhite = isWhite
  }
}

extension ButtonSettings {
  /// The location of a variant's image at Apple: path and query.
  package func imagePath(_ variant: ButtonVariant) -> String {
    var parameters: [(name: String, value: String)] = [
      ("color", variant.isWhite ? "white" : "black"), ("border", border ? "true" : "false"),
      ("border_radius", "\(borderRadius)"), ("scale", "\(scale)"),
    ]
    if shape == .logo {
      parameters.append(("size", "\(extent.width)"))
    } else {
      parameters += [
        ("width", "\(extent.width)"), ("height", "\(extent.height)"), ("type", (type ?? .signIn).rawValue),
        ("locale", variant.locale.rawValue),
      ]
    }
    if shape == .left {
      if let labelPosition { parameters.append(("label-position", "\(labelPosition)")) }
      if let logoPosition { parameters.append(("logo-position", "\(logoPosition)")) }
      if let logoSize { parameters.append(("logo-size", logoSize.rawValue)) }
    }
    let path =
      switch shape {
      case .centred: "/appleid/button"
      case .left: "/appleid/button/left"
      case .logo: "/appleid/button/logo"
      }
    return "\(path)?\(PercentEncoding.query(parameters))"
  }
}

/// An image from Apple, validated before it is served from our origin.
package struct ButtonImage: Sendable, Equatable {
  /// A PNG of at most ``maximumBytes`` bytes.
  package let png: [UInt8]

  /// The largest accepted image. Apple's have some ten kilobytes.
  package static let maximumBytes = 512 * 1024

  /// Validates a response.
  init(_ response: AppleHTTPResponse) throws(ButtonImageError) {
    guard response.status == 200 else { throw .status(response.status) }
    guard MediaType.matches(response.contentType, "image/png") else { throw .noImage("it is not image/png") }
    guard response.body.count <= Self.maximumBytes else { throw .noImage("it has more than 512 KiB") }
    guard Self.isPNG(response.body) else { throw .noImage("it is not a whole PNG") }
    png = response.body
  }

  /// The signature, a header with sides of 1 to 4,096 pixels, and the end (W3C, "Portable Network Graphics", 5 and 11).
  private static func isPNG(_ bytes: [UInt8]) -> Bool {
    let beginning: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    let end: [UInt8] = [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
    guard bytes.count > 45, bytes.starts(with: beginning), bytes.suffix(12).elementsEqual(end) else { return false }
    return [bytes[16..<20], bytes[20..<24]].allSatisfy { side in
      (1...4_096).contains(side.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
  }
}

/// The reason why there is no image from Apple.
package enum ButtonImageError: Error, Sendable, Equatable {
  /// There was no answer.
  case unreachable(AppleTransportError)
  /// An answer other than 200.
  case status(Int)
  /// 200 without a valid image, with the problem.
  case noImage(String)

  /// The problem as a single line for the log, whatever Apple sent.
  package var message: String {
    switch self {
    case .unreachable(.notSent(let reason)), .unreachable(.unanswered(let reason)): LogText.sanitized(reason)
    case .status(let status): "Apple answered \(status)"
    case .noImage(let reason): "what Apple sent is not an image to show: \(reason)"
    }
  }
}
