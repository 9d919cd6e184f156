import WebFormats

/// Values as oauth2-proxy writes them, as the gateway does.
enum OAuth2ProxyValue {
  /// A listener: `127.0.0.1:4180`, `http://[::1]:4180`, `:443` or `unix:///path`; nil with user information, which the
  /// message about a refused value would show, and for a socket with a mode (`unix:///path,mode=0660`).
  static func address(_ text: String) -> String? {
    if let path = text.without(prefix: "unix://") {
      return path.hasPrefix("/") && !path.utf8.contains(UInt8(ascii: ",")) ? "unix:\(path)" : nil
    }
    let authority = text.without(prefix: "http://") ?? text.without(prefix: "https://") ?? text
    guard !authority.isEmpty, !authority.utf8.contains(where: { "/@".utf8.contains($0) }) else { return nil }
    if let port = authority.without(prefix: "localhost:") { return "127.0.0.1:\(port)" }
    return authority.hasPrefix(":") ? "0.0.0.0\(authority)" : authority
  }

  /// An application: where it is, and the path that is routed to it; nil for files and fixed answers.
  static func upstream(_ text: String) -> (origin: String, path: String)? {
    if let path = text.without(prefix: "unix://") { return path.hasPrefix("/") ? ("unix:\(path)", "") : nil }
    guard let (origin, path) = originAndPath(text), let slashes = origin.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return nil
    }
    let authority = origin.utf8[origin.utf8.index(after: slashes)...]
    return Authority(parsing: authority) == nil ? nil : (origin, path)
  }

  /// A URL without `user:password@`, and whether it had one: messages must not show a password.
  static func withoutUserInformation(_ url: String) -> (url: String, hadUser: Bool) {
    let bytes = Array(url.utf8)
    let start = bytes.indices.first { bytes[$0...].starts(with: "://".utf8) }.map { $0 + 3 } ?? 0
    let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return (url, false) }
    return (String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self), true)
  }

  /// A network, as trusted proxies are listed: an address alone is a network of one.
  static func network(_ text: String) -> String {
    if text.utf8.contains(UInt8(ascii: "/")) { return text }
    return text.utf8.contains(UInt8(ascii: ":")) ? "\(text)/128" : "\(text)/32"
  }

  /// Whether a text is a domain as `allow_email_domains` takes them: no pattern, no subdomains meant.
  static func isDomain(_ text: String) -> Bool {
    let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // Apple gives addresses of its relay to anybody.
    return !text.isEmpty && text.utf8.count <= 253 && text != "privaterelay.appleid.com"
      && labels.allSatisfy { label in
        !label.isEmpty && label.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
      }
  }

  /// Whether a text is one e-mail address without quotation, and without a "*", which is meant as a pattern.
  static func isAddress(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, text.utf8.count <= 254, !parts[0].isEmpty else { return false }
    let isPlain = parts[0].allSatisfy { $0.isASCIILetterOrDigit || "!#$%&'+-/=?^_`{|}~.".utf8.contains($0) }
    return isPlain && isDomain(String(decoding: Array(parts[1]), as: UTF8.self))
  }

  /// Whether a text is the path of a route: plain segments, and no other reading.
  static func isPlainPath(_ text: String) -> Bool {
    let segments = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return segments.count > 1 && segments[0].isEmpty && !segments.dropFirst().dropLast().contains { $0.isEmpty }
      && segments.allSatisfy { segment in
        segment.allSatisfy { $0.isASCIILetterOrDigit || "-_~.".utf8.contains($0) }
          && (segment.isEmpty || segment.contains { $0 != UInt8(ascii: ".") })
      }
  }

  /// The two parts of an `http:` or `https:` URL; the path ends before a query.
  static func originAndPath(_ url: String) -> (origin: String, path: String)? {
    for scheme in ["https://", "http://"] {
      guard let rest = url.without(prefix: scheme) else { continue }
      let bytes = Array(rest.utf8)
      let slash = bytes.firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
      guard slash > 0 else { return nil }
      let path = bytes[slash...].prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
      return (scheme + String(decoding: bytes[..<slash], as: UTF8.self), String(decoding: path, as: UTF8.self))
    }
    return nil
  }

  /// The meaning of a regular expression for paths, where it means no more than a route can say: the beginning of paths
  /// (`^/public/`, `^/static/.*`) or one path (`^/health$`), for all methods or for one (`GET=^/public/`). Nil for
  /// one that is not bound to the beginning, or excludes a method (`GET!=^/`).
  /// - Returns: the place, and whether the pattern means more paths (`^/robots.txt$`): a dot that is not escaped is
  ///   taken for a dot.
  static func path(_ pattern: String) -> (place: OAuth2ProxyRoutes.Place, isNarrower: Bool)? {
    var bytes = Array(pattern.utf8)[...]
    var method: String?
    if let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0,
      bytes[..<equals].allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
    {
      method = String(decoding: bytes[..<equals], as: UTF8.self)
      bytes = bytes[(equals + 1)...]
    }
    guard bytes.first == UInt8(ascii: "^") else { return nil }
    bytes = bytes.dropFirst()
    let isExact = bytes.last == UInt8(ascii: "$")
    let isOpen = bytes.suffix(2).elementsEqual(".*".utf8)
    bytes = bytes.dropLast(isExact ? 1 : isOpen ? 2 : 0)
    guard let (path, isNarrower) = literal(bytes), path.utf8.count > 1,
      isExact || path.utf8.last == UInt8(ascii: "/"), isPlainPath(path)
    else { return nil }
    return (OAuth2ProxyRoutes.Place(path: path, isExact: isExact, method: method), isNarrower)
  }

  /// The text that a part of a regular expression stands for, and whether the expression matches other texts, too,
  /// because a dot in it is not escaped. Nil for an expression with other operators.
  private static func literal(_ pattern: ArraySlice<UInt8>) -> (text: String, isNarrower: Bool)? {
    var text: [UInt8] = []
    var isNarrower = false
    var rest = pattern
    while var byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\") {
        guard let escaped = rest.popFirst(), "./-".utf8.contains(escaped) else { return nil }
        byte = escaped
      } else {
        guard byte.isUnreserved || byte == UInt8(ascii: "/") else { return nil }
        if byte == UInt8(ascii: ".") { isNarrower = true }
      }
      text.append(byte)
    }
    return (String(decoding: text, as: UTF8.self), isNarrower)
  }

  /// A duration of Go's, `168h0m0s` or `1.5h`, in the largest unit that keeps it whole; nil for zero, fractions of a
  /// millisecond and any other text.
  static func duration(_ text: String) -> String? {
    var milliseconds = 0
    var number: Int?
    // The power of ten by which the number is divided; nil before the decimal point.
    var divisor: Int?
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      if byte.isASCIIDigit {
        let (shifted, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
        guard !isTooLarge, shifted < 1 << 40, (divisor ?? 1) < 1 << 40 else { return nil }
        number = shifted + Int(byte & 0x0F)
        divisor = divisor.map { $0 * 10 }
        continue
      }
      if byte == UInt8(ascii: "."), number != nil, divisor == nil {
        divisor = 1
        continue
      }
      guard let count = number else { return nil }
      let unit: Int
      switch byte {
      case UInt8(ascii: "h"): unit = 3_600_000
      case UInt8(ascii: "s"): unit = 1_000
      case UInt8(ascii: "m") where bytes.first == UInt8(ascii: "s"):
        bytes = bytes.dropFirst()
        unit = 1
      case UInt8(ascii: "m"): unit = 60_000
      default: return nil
      }
      let (part, isTooLong) = count.multipliedReportingOverflow(by: unit)
      guard !isTooLong, part < 1 << 50, milliseconds < 1 << 50, part.isMultiple(of: divisor ?? 1) else { return nil }
      milliseconds += part / (divisor ?? 1)
      (number, divisor) = (nil, nil)
    }
    guard number == nil, milliseconds > 0 else { return nil }
    for (unit, size) in units where milliseconds.isMultiple(of: size) { return "\(milliseconds / size)\(unit)" }
    return "\(milliseconds)ms"
  }

  /// Units of a duration and their milliseconds, from the largest. A constant: for a literal in the function the
  /// compiler orders its instructions differently from one build to the next.
  private static let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
}

extension String {
  /// The text after a prefix, compared byte by byte; nil without that prefix.
  fileprivate func without(prefix: String) -> String? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }
}
