/// A request for a button image, its parameters validated by Apple's tables (Apple, "Sign in with Apple button" for the
/// web). A value out of range, or not in the table of the kind, is answered with 404.
struct ButtonRequest: Sendable, Equatable {
  enum Kind: String, Sendable {
    case centred = ""
    case left
    case logo
  }

  let kind: Kind
  /// Points, without the scale.
  let width: Int
  let height: Int
  /// Pixels for a point.
  let scale: Int
  let isWhite: Bool
  let hasBorder: Bool
  /// Points.
  let radius: Int

  /// Validates a query; nil if it is invalid.
  init?(kind: Kind, query: SubmittedForm) {
    guard query.repeatedName == nil else { return nil }
    let known = Self.names(of: kind)
    guard query.fields.allSatisfy({ known.contains($0.name) }) else { return nil }
    func number(_ name: String, _ range: ClosedRange<Int>, _ standard: Int) -> Int? {
      Self.number(query, name: name, in: range, standard: standard)
    }
    func one(of values: Set<String>, _ name: String, _ standard: String) -> String? {
      guard let field = query.fields.first(where: { $0.name == name }) else { return standard }
      return values.contains(field.value) ? field.value : nil
    }
    guard let scale = number("scale", 1...6, 1), let radius = number("border_radius", 0...50, 15),
      let color = one(of: ["black", "white"], "color", "black"),
      let border = one(of: ["true", "false"], "border", "false")
    else { return nil }

    var size = (width: 0, height: 0)
    if kind == .logo {
      guard let side = number("size", 30...64, 30) else { return nil }
      size = (side, side)
    } else {
      guard let height = number("height", 30...64, 30), let width = number("width", 130...375, 140),
        one(of: ["sign-in", "continue"], "type", "sign-in") != nil,
        one(of: Self.locales, "locale", "en_US") != nil
      else { return nil }
      size = (width, height)
    }
    if kind == .left {
      // At most half the width, and never more than 182 points.
      let most = min(182, size.width / 2)
      guard number("label-position", 0...most, 0) != nil, number("logo-position", 0...most, 0) != nil,
        one(of: ["small", "medium", "large"], "logo-size", "small") != nil
      else { return nil }
    }
    self.kind = kind
    (width, height) = size
    self.scale = scale
    self.radius = radius
    isWhite = color == "white"
    hasBorder = border == "true"
  }

  private static func names(of kind: Kind) -> Set<String> {
    let all: Set = ["color", "border", "border_radius", "scale"]
    switch kind {
    case .centred: return all.union(["height", "width", "type", "locale"])
    case .left:
      return all.union(["height", "width", "type", "locale", "label-position", "logo-position", "logo-size"])
    case .logo: return all.union(["size"])
    }
  }

  private static func number(
    _ query: SubmittedForm, name: String, in range: ClosedRange<Int>, standard: Int
  ) -> Int? {
    guard let field = query.fields.first(where: { $0.name == name }) else { return standard }
    let digits = field.value.utf8
    guard (1...4).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return range.contains(value) ? value : nil
  }

  private static let locales = Set(
    """
    ar_SA ca_ES cs_CZ da_DK de_DE el_GR en_GB en_US es_ES es_MX fi_FI fr_CA fr_FR hr_HR hu_HU id_ID it_IT iw_IL ja_JP \
    ko_KR ms_MY nl_NL no_NO pl_PL pt_BR pt_PT ro_RO ru_RU sk_SK sv_SE th_TH tr_TR uk_UA vi_VI zh_CN zh_HK zh_TW
    """.split(separator: " ").map(String.init))
}

extension ButtonRequest {
  /// The picture: a rounded box with a disc where Apple's logo would be, which is not ours to draw.
  var image: PNGImage {
    var image = PNGImage(width: width * scale, height: height * scale)
    let corner = Double(min(radius, min(width, height) / 2) * scale)
    let ground: UInt8 = isWhite ? 255 : 0
    let ink: UInt8 = isWhite ? 0 : 255
    let discRadius = Double(min(width, height) * scale) / 5
    let disc = (
      x: kind == .left ? discRadius * 2.5 : Double(image.width) / 2, y: Double(image.height) / 2
    )
    for y in 0..<image.height {
      for x in 0..<image.width {
        let depth = Self.depth(x: x, y: y, width: image.width, height: image.height, corner: corner)
        guard depth >= 0 else { continue }
        let isLine = hasBorder && depth < Double(scale)
        let dx = Double(x) + 0.5 - disc.x
        let dy = Double(y) + 0.5 - disc.y
        let isDisc = dx * dx + dy * dy <= discRadius * discRadius
        image.set(x: x, y: y, grey: isLine || isDisc ? ink : ground)
      }
    }
    return image
  }

  /// The distance of a point from the edge of a box with round corners; negative outside.
  private static func depth(x: Int, y: Int, width: Int, height: Int, corner: Double) -> Double {
    let fromSide = Double(min(x, width - 1 - x)) + 0.5
    let fromEdge = Double(min(y, height - 1 - y)) + 0.5
    guard fromSide < corner, fromEdge < corner else { return min(fromSide, fromEdge) }
    let dx = corner - fromSide
    let dy = corner - fromEdge
    return corner - (dx * dx + dy * dy).squareRoot()
  }
}
