internal import WebFormats

/// The session parameter that Java containers write into the links of a visitor's first page:
/// `/style.css;jsessionid=1A2B.node1`.
///
///     session-parameter = ";jsessionid=" 1*( ALPHA / DIGIT / "." / "_" / "-" / "!" )   at the end of the path
enum SessionParameter {
  /// The end of the path without the parameter; nil if the path does not end with exactly this form.
  static func start(in path: Span<UInt8>) -> Int? {
    var place = path.count
    while place > 0, isOfToken(path[place - 1]) { place -= 1 }
    let start = place - name.utf8CodeUnitCount
    guard place < path.count, start > 0 else { return nil }
    return name.withUTF8Buffer { bytes in
      bytes.indices.allSatisfy { path[start + $0] == bytes[$0] } ? start : nil
    }
  }

  /// The end of a path that is ambiguous only because of its session parameter, without that parameter.
  static func plainEnd(of path: Span<UInt8>, _ classification: PathClassification) -> Int? {
    guard classification == .ambiguous(.parameter), let end = start(in: path),
      PathClassification.classify(path.extracting(0..<end)) == .canonical
    else { return nil }
    return end
  }

  private static let name: StaticString = ";jsessionid="

  private static func isOfToken(_ byte: UInt8) -> Bool {
    byte.isUnreserved && byte != UInt8(ascii: "~") || byte == UInt8(ascii: "!")
  }
}

extension RouteTable {
  /// As ``match(_:_:method:depth:host:)``. A path that would be canonical without a session parameter at its end is
  /// canonical with it, too, where dropping it leads to the same decision: whether the application drops it or not, the
  /// same rules hold.
  package func matchWithSessionParameter(
    _ path: Span<UInt8>, _ classification: PathClassification, method: Span<UInt8>,
    depth: RequestDepth = .everything, host: Host = .publicURL
  ) -> RouteDecision {
    guard let end = SessionParameter.plainEnd(of: path, classification) else {
      return match(path, classification, method: method, depth: depth, host: host)
    }
    let decision = match(path, .canonical, method: method, depth: depth, host: host)
    return match(path.extracting(0..<end), .canonical, method: method, depth: depth, host: host) == decision
      ? decision : match(path, classification, method: method, depth: depth, host: host)
  }

  /// The same as ``match(_:_:host:)``, where the method is not known.
  package func matchWithSessionParameter(
    _ path: Span<UInt8>, _ classification: PathClassification, host: Host = .publicURL
  ) -> RouteDecision {
    guard let end = SessionParameter.plainEnd(of: path, classification) else {
      return match(path, classification, host: host)
    }
    let decision = match(path, .canonical, host: host)
    return match(path.extracting(0..<end), .canonical, host: host) == decision
      ? decision : match(path, classification, host: host)
  }
}
