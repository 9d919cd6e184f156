/// A browser in everyday words, by its user agent: `Safari`, on an `iPhone`.
struct BrowserName: Equatable {
  /// The name that people know it by.
  let browser: String
  /// The device or the system; nil if it does not say.
  let device: String?

  /// Nil for a user agent of no known browser: an app, a script.
  init?(userAgent: String) {
    let bytes = Array(userAgent.utf8)
    func first(_ signs: [(sign: String, name: String)]) -> String? {
      signs.first { bytes.contains(Array($0.sign.utf8)) }?.name
    }
    guard bytes.starts(with: "Mozilla/".utf8), let browser = first(Self.browsers) else { return nil }
    self.browser = browser
    device = first(Self.devices)
  }

  /// Most browsers name others besides themselves: the more special come first.
  private static let browsers: [(sign: String, name: String)] = [
    ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("OPT/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"), ("YaBrowser/", "Yandex Browser"),
    ("DuckDuckGo/", "DuckDuckGo"), ("Ddg/", "DuckDuckGo"), ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
  ]

  private static let devices: [(sign: String, name: String)] = [
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("iPod", "iPod touch"), ("Android", "Android"), ("CrOS", "ChromeOS"),
    ("Windows", "Windows"), ("Macintosh", "Mac"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"),
  ]
}
