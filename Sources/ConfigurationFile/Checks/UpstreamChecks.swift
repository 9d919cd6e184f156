import DataPlane

/// Turns what a document says of upstreams into settings.
enum UpstreamChecks {
  static func check(
    _ drafts: [DocumentReader.Element<UpstreamDraft>], into draft: inout Draft, _ reading: inout Reading
  ) {
    draft.configuration.upstream.addresses = addresses(
      reading.good.contains("upstream.url") ? draft.upstreamURL : nil, draft.upstreamURLs, at: NodePath("upstream"),
      listen: listen(draft, reading), &reading)
    if let path = draft.checkPath {
      draft.check.path = path
      draft.configuration.upstream.check = draft.check
    } else if !drafts.contains(where: { $0.draft.checkPath != nil }), !reading.isThere("upstream.check.path"),
      let key = ["interval", "timeout", "healthy_after", "unhealthy_after"]
        .first(where: { reading.isThere("upstream.check.\($0)") })
    {
      reading.complain(
        atKey: NodePath("upstream.check.\(key)"), "upstream.check has no path, so that nothing is checked",
        remedy: "write path = \"/health\" under [upstream.check], or leave the table out")
    }
    for (index, other, _) in drafts { add(other, at: index, to: &draft, &reading) }
  }

  private static func add(_ other: UpstreamDraft, at index: Int, to draft: inout Draft, _ reading: inout Reading) {
    let path = NodePath(Sections.upstreams.name).appending(index)
    if isSame(other.name, UpstreamSettings.defaultName) {
      reading.complain(
        at: path.appending("name"), "\"default\" is the name of [upstream]", remedy: "choose another name")
    } else if draft.configuration.upstreams.contains(where: { isSame($0.name, other.name) }) {
      reading.complain(
        at: path.appending("name"), "there is an upstream of this name already",
        remedy: "choose another name, or write all addresses of one upstream into its urls")
    }
    if other.url == nil, other.urls == nil {
      reading.complain(
        atKey: path, "this upstream has no url", remedy: "write url = \"http://127.0.0.1:3001\", or where it listens")
    }
    var settings = draft.configuration.upstream
    settings.name = other.name
    settings.addresses = addresses(other.url, other.urls, at: path, listen: listen(draft, reading), &reading)
    settings.check = other.checkPath.map { checkPath in
      var check = draft.check
      check.path = checkPath
      return check
    }
    draft.configuration.upstreams.append(settings)
  }

  private static func listen(_ draft: Draft, _ reading: Reading) -> BindAddress? {
    reading.good.contains("listen.address") ? draft.configuration.listener.address : nil
  }

  /// Names are compared as bytes.
  static func isSame(_ one: String, _ other: String) -> Bool { one.utf8.elementsEqual(other.utf8) }

  private static func addresses(
    _ url: UpstreamAddress?, _ urls: [UpstreamAddress]?, at path: NodePath, listen: BindAddress?,
    _ reading: inout Reading
  ) -> [UpstreamAddress] {
    let list = path.appending("urls")
    if url != nil, urls != nil {
      reading.complain(
        atKey: list, "\(path) has a url and urls", remedy: "write one or the other: urls holds every address")
    }
    if let urls, urls.isEmpty {
      reading.complain(at: list, "\(list) names no address", remedy: "write where the application listens")
    }
    if let urls, urls.count > UpstreamSettings.addressLimit {
      reading.complain(
        at: list, "\(list) names \(urls.count) addresses",
        remedy: "write at most \(UpstreamSettings.addressLimit), or a name that has many addresses")
    }
    var seen: Set<UpstreamAddress> = []
    let places = (urls ?? []).indices.map { list.appending($0) }
    for (address, place) in zip(urls ?? [], places) + (url.map { [($0, path.appending("url"))] } ?? []) {
      if !seen.insert(address).inserted, place.parent == list {
        reading.complain(at: place, "\(list) names this twice", remedy: "remove one of them")
      }
      if let listen, CombinationChecks.isLoop(address, listen) {
        reading.complain(
          at: place, "\(place) is the gateway's own listener",
          remedy: "write where the application listens, and give it another port")
      }
    }
    return urls ?? url.map { [$0] } ?? []
  }
}
