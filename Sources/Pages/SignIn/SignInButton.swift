internal import WebFormats

/// Apple's button, as the sign-in page shows it: an image from our own origin, or drawn.
package struct SignInButton: Sendable, Equatable {
  /// Apple's words, in Apple's translation only; what a screen reader says.
  package var title: String
  /// The tag of the words' language (BCP 47).
  package var language: String
  /// In points (CSS pixels).
  package var width: Int
  /// In points.
  package var height: Int
  /// The radius of the corners, in points.
  package var borderRadius: Int
  /// Black, white, or by the color scheme of the browser.
  package var color: Color
  /// Whether there is a line around it.
  package var hasBorder: Bool
  /// The layout of logo and text, if the button is drawn.
  package var layout: Layout
  /// Paths of images on our own origin; nil draws the button.
  package var images: Images?

  /// A button of Apple's default form.
  package init(
    title: String = "Sign in with Apple", language: String = "en", width: Int = 320, height: Int = 48,
    borderRadius: Int = 12, color: Color = .auto, hasBorder: Bool = false, layout: Layout = .centred,
    images: Images? = nil
  ) {
    self.title = title
    self.language = language
    self.width = width
    self.height = height
    self.borderRadius = borderRadius
    self.color = color
    self.hasBorder = hasBorder
    self.layout = layout
    self.images = images
  }

  /// The color of the button, not of its text.
  package enum Color: Sendable {
    /// By the color scheme of the browser: black on a light page, white on a dark one.
    case auto
    /// The same on every page: Apple's black and white styles.
    case black, white
  }

  /// The places of the logo and the text.
  package enum Layout: Sendable {
    /// Logo and words together in the middle.
    case centred
    /// The logo at the beginning of the line, the words in the middle.
    case leading
    /// The logo alone.
    case logo
  }

  /// Apple's image of the button, served from our own origin.
  package struct Images: Sendable, Equatable {
    /// The path of the image, for dark pages too unless they have their own.
    package var path: String
    /// The path of the image for dark pages; nil if it is the same.
    package var darkPath: String?

    /// One image, or one for each color scheme.
    package init(path: String, darkPath: String? = nil) {
      self.path = path
      self.darkPath = darkPath
    }
  }
}

extension SignInButton {
  /// The link, with Apple's image or the drawn button in it.
  func markup(to authorize: Link) -> Markup {
    guard let images else { return drawn(to: authorize) }
    let image: Markup = """
      <img src="\(images.path)" width="\(width)" height="\(height)" alt="\(title)" lang="\(language)">
      """
    guard let darkPath = images.darkPath else {
      return #"<a class="apple-image" href="\#(authorize.href)">\#(image)</a>"#
    }
    return """
      <a class="apple-image" href="\(authorize.href)"><picture>\
      <source srcset="\(darkPath)" media="(prefers-color-scheme:dark)">\(image)</picture></a>
      """
  }

  private func drawn(to authorize: Link) -> Markup {
    let logo = Markup(trusted: Artwork.appleLogo)
    let classes: Markup = "apple \(layoutClass)\(hasBorder ? Markup(" bordered") : Markup(""))"
    if layout == .logo {
      return #"""
        <a class="\#(classes)" href="\#(authorize.href)" aria-label="\#(title)" lang="\#(language)">\#(logo)</a>
        """#
    }
    return #"""
      <a class="\#(classes)" href="\#(authorize.href)">\#(logo)<span lang="\#(language)" dir="auto">\#(title)</span></a>
      """#
  }

  private var layoutClass: Markup {
    switch layout {
    case .centred: "centred"
    case .leading: "leading"
    case .logo: "logo"
    }
  }

  /// Rules for the stylesheet, because the content security policy allows no style attributes.
  var style: Markup {
    let colors: Markup =
      switch color {
      case .auto: ""
      case .black: "--apple:#000;--on-apple:#fff;"
      case .white: "--apple:#fff;--on-apple:#000;"
      }
    return """
      :root{\(colors)--apple-width:\(width)px;--apple-height:\(height)px;--apple-radius:\(borderRadius)px;\
      --apple-font:\(fontSize)px}
      """
  }

  /// The size of the words: 43 % of the height as Apple has it, or less where long words would not fit on a line. The
  /// widths are of a wide font; what is drawn is narrower.
  private var fontSize: Int {
    let tenths = title.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x2E80 ? 10 : 6) }
    let room = width - 24 - height * 63 / 100
    return max(10, min(height * 43 / 100, room * 10 / max(1, tenths)))
  }
}
