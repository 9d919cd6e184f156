extension ButtonSettings {
  /// Every problem, by Apple's tables; an image request with one of these would be answered 404. Empty if there is
  /// none.
  package var problems: [AppleSettingsError] {
    var problems = shapeProblems + rangeProblems
    if let baseURL, AppleOrigin(baseURL).map({ $0.scheme == "http" && !$0.isLoopback }) ?? true {
      problems.append(
        AppleSettingsError(
          key: "pages.button.base_url", problem: "it is not an https: origin (http: on loopback only)",
          remedy: "leave it out, except for tests; no trailing slash, no query"))
    }
    if !usesAppleImage, baseURL != nil {
      problems.append(
        AppleSettingsError(
          key: "pages.button.base_url", problem: "no image is fetched, because pages.button.apple_image is false",
          remedy: "leave one of the two out"))
    }
    return problems
  }

  /// Settings that do not apply to the shape.
  private var shapeProblems: [AppleSettingsError] {
    let parameters: [(name: String, isThere: Bool, shapes: [Shape])] = [
      ("locale", locale != nil, [.centred, .left]), ("type", type != nil, [.centred, .left]),
      ("width", width != nil, [.centred, .left]), ("height", height != nil, [.centred, .left]),
      ("label_position", labelPosition != nil, [.left]), ("logo_position", logoPosition != nil, [.left]),
      ("logo_size", logoSize != nil, [.left]), ("size", size != nil, [.logo]),
    ]
    return parameters.filter { $0.isThere && !$0.shapes.contains(shape) }.map { parameter in
      let shapes = parameter.shapes.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
      let instead = shape == .logo ? "; the logo's side is pages.button.size" : ""
      return AppleSettingsError(
        key: "pages.button.\(parameter.name)",
        problem: "Apple's button has no \(parameter.name) when its shape is \"\(shape.rawValue)\"",
        remedy: "leave it out, or set pages.button.shape to \(shapes)\(parameter.name == "width" ? instead : "")")
    }
  }

  private var rangeProblems: [AppleSettingsError] {
    var problems: [AppleSettingsError] = []
    let lengths: [(name: String, value: Int?, range: ClosedRange<Int>)] = [
      ("width", width, 130...375), ("height", height, 30...64), ("size", size, 30...64),
      ("border_radius", borderRadius, 0...50), ("scale", scale, 1...6),
    ]
    for (name, value, range) in lengths {
      guard let value, !range.contains(value) else { continue }
      problems.append(
        AppleSettingsError(
          key: "pages.button.\(name)", problem: "\(value) is outside of what Apple draws",
          remedy: "write a number from \(range.lowerBound) to \(range.upperBound)"))
    }
    let most = min(182, extent.width / 2)
    for (name, value) in [("label_position", labelPosition), ("logo_position", logoPosition)] {
      guard shape == .left, let value, !(0...most).contains(value) else { continue }
      problems.append(
        AppleSettingsError(
          key: "pages.button.\(name)", problem: "\(value) is more than half of the width, \(extent.width)",
          remedy: "write a number from 0 to \(most), or make the button wider"))
    }
    return problems
  }
}
