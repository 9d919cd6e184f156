import WebFormats

/// The methods that clients send.
enum UsualMethods {
  /// The problem of an entry of `methods` that no request probably has, and its remedy; nil for any other. The route
  /// would hold for no request, and restrict none.
  static func problem(of method: String) -> (problem: String, remedy: String)? {
    let upper = method.uppercased()
    if wildcards.contains(where: { $0.utf8.elementsEqual(upper.utf8) }) {
      return (
        "\"\(method)\" is not every method, but one of this name, which no client sends",
        "remove methods: a route without them applies to every method"
      )
    }
    if method.utf8.contains(where: \.isASCIILowercase) {
      return (
        "methods are case-sensitive, and \"\(method)\" is not a usual one", "write \"\(upper)\" if that is meant"
      )
    }
    guard !names.contains(where: { $0.utf8.elementsEqual(method.utf8) }),
      let nearest = NearestKey.find(method, among: names)
    else { return nil }
    return ("\"\(method)\" is not a usual method", "did you mean \"\(nearest)\"?")
  }

  /// Words by which other programs mean every method.
  private static let wildcards = ["*", "ALL", "ANY"]

  /// Those of the IANA registry, the most usual first, and what caches and media servers are asked with; also `TRACK`,
  /// which is denied beside `TRACE`, and `M-SEARCH`.
  private static let names = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY", "PROPFIND", "PROPPATCH",
    "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "MKCALENDAR", "ACL", "BASELINE-CONTROL", "BIND",
    "CHECKIN", "CHECKOUT", "LABEL", "LINK", "MERGE", "MKACTIVITY", "MKREDIRECTREF", "MKWORKSPACE", "ORDERPATCH", "PRI",
    "REBIND", "UNBIND", "UNCHECKOUT", "UNLINK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL", "PURGE", "BAN",
    "REFRESH", "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "POLL", "BPROPFIND", "BPROPPATCH", "BDELETE", "BCOPY", "BMOVE",
    "DESCRIBE", "ANNOUNCE", "RECORD", "SOURCE", "LIST", "VIEW", "TRACK", "M-SEARCH",
  ]
}

extension UInt8 {
  fileprivate var isASCIILowercase: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
