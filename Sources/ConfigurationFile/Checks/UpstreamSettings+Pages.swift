import DataPlane

extension UpstreamSettings {
  /// The path at the application for a path that clients request; nil if the upstream does not serve it.
  func page(at path: String) -> String? {
    guard let prefix = strippedPrefix else { return path }
    guard UpstreamSettings.isWithin(path, prefix: prefix) else { return nil }
    let page = String(decoding: path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    return page.isEmpty ? "/" : page
  }

  /// The path that clients request for a path at the application.
  func path(ofPage page: String) -> String { (strippedPrefix ?? "") + page }
}
