internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import WebFormats

// Three questions about the page that caused a request:
// - May it change something? `isFromOwnPages`: only a form or script of our own pages.
// - May a message in its query be shown? `isCausedByOwnPage`: after our own redirect.
// - Did another site cause it? `isOfAnotherSite`: for limits, for pages that other sites may link to, and for the
//   farewell of a deleted account, which is shown again when its address is.
//
// They differ in the user's own navigation (`Sec-Fetch-Site: none`: the address bar, a bookmark, a link in an e-mail):
// no other site caused it, but it neither changes anything nor has its message shown.
extension ControlRequest {
  /// Whether the request comes from our own pages, by `Origin`, or by `Sec-Fetch-Site` where `Origin` says nothing:
  /// some browsers leave it out, and of a page with `Referrer-Policy: no-referrer` it is `null` (Fetch Standard,
  /// "append a request Origin header"). False if the request has neither. A sandboxed frame has the origin `null` as
  /// well, but is `cross-site`.
  func isFromOwnPages(_ origin: OriginSettings) -> Bool {
    let fields = head.headerFields
    if let site = fields[.secFetchSite], site != "same-origin" { return false }
    let isSameOrigin = fields[.secFetchSite] == "same-origin"
    guard let stated = fields[.origin], stated != "null" || !isSameOrigin else { return isSameOrigin }
    return stated.utf8.elementsEqual(origin.origin.description.utf8)
  }

  /// Whether our own page caused the request, as by the redirect after a form, by `Sec-Fetch-Site` alone: a GET has no
  /// `Origin`. Only then is a message in the query shown: any link, also one in an e-mail, could make our page say that
  /// something was done. True for clients that do not send the field.
  var isCausedByOwnPage: Bool { (head.headerFields[.secFetchSite] ?? "same-origin") == "same-origin" }

  /// Whether a page of another site caused the request, by `Sec-Fetch-Site`.
  var isOfAnotherSite: Bool {
    guard let site = head.headerFields[.secFetchSite] else { return false }
    return site != "same-origin" && site != "none"
  }

  /// Whether the request is a top-level navigation by Fetch Metadata, neither a frame nor a prefetch. True for browsers
  /// that do not send it.
  var isTopLevelNavigation: Bool {
    let fields = head.headerFields
    return isNavigation && isForTab
      && fields[.secPurpose] == nil && fields[.purpose] == nil && fields[.xMoz] == nil
  }

  /// Whether the request is a navigation by `Sec-Fetch-Mode`, also where a service worker passes it on: see
  /// ``RequestKind/isNavigation(_:_:)``. True for browsers that do not send it.
  var isNavigation: Bool {
    let fields = head.headerFields
    switch fields[.secFetchMode] {
    case nil, "navigate": return true
    case "same-origin":
      return fields[.secFetchDest] == "empty" && fields[.upgradeInsecureRequests] == "1" && namesHTML
    default: return false
    }
  }

  /// Whether a service worker passes the navigation on in Firefox, which then states our own origin in `Origin` and
  /// `Sec-Fetch-Site`, whatever page caused it. With a POST of another site it sends no `SameSite=Lax` cookie, so that
  /// only the session's cookie proves that our own page caused it.
  var hidesCausingSite: Bool { head.headerFields[.secFetchMode] == "same-origin" && isNavigation }

  /// Whether a navigation is for a tab, by `Sec-Fetch-Dest`: `document`, or `empty` with an `Accept` that names HTML,
  /// when a service worker of the application passes the navigation on (`fetch(event.request)`). Without the latter
  /// nobody could sign in at such an application. The worker hides whether it is for a frame. A public page in a frame
  /// on another site can register one as well: there Chromium sends `Sec-Fetch-Storage-Access`, which it never does for
  /// a tab, and other browsers keep the cookies apart. Chromium keeps `Sec-Fetch-Site` and `Origin`; Firefox makes our
  /// own origin of them, and sends no `SameSite=Lax` cookie with a POST of another site. A link with `download` has
  /// `empty` as well, and an `Accept` without HTML.
  private var isForTab: Bool {
    switch head.headerFields[.secFetchDest] {
    case nil, "document": true
    case "empty": namesHTML && head.headerFields[.secFetchStorageAccess] == nil
    default: false
    }
  }

  /// Whether `Accept` has `text/html` in it.
  private var namesHTML: Bool {
    (head.headerFields[.accept] ?? "").utf8.split(separator: UInt8(ascii: ",")).contains {
      MediaType.withoutParameters($0).elementsEqual("text/html".utf8)
    }
  }
}

extension HTTPField.Name {
  static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
  fileprivate static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest")!
  fileprivate static let secFetchStorageAccess = HTTPField.Name("Sec-Fetch-Storage-Access")!
  fileprivate static let upgradeInsecureRequests = HTTPField.Name("Upgrade-Insecure-Requests")!
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  /// `prefetch`, as older browsers say it; now it is in `Sec-Purpose`.
  fileprivate static let purpose = HTTPField.Name("Purpose")!
  fileprivate static let xMoz = HTTPField.Name("X-Moz")!
}
