/// The session parameter that Java containers write into the links of a visitor's first page:
/// `/style.css;jsessionid=1A2B.node1`.
///
///     session-parameter = ";jsessionid=" 1*( ALPHA / DIGIT / "." / "_" / "-" / "!" )   at the end of the path
enum SessionParameter {
  /// Where the path ends without it; nil where it is not there in exactly this form.
  static func start(in path: Span<UInt8>) -> Int? {
    var place = path.count
    while place > 0, isOfToken(path[place - 1]) { place -= 1 }
    let start = place - name.utf8CodeUnitCount
    guard place < path.count, start > 0 else { return nil }
    return name.withUTF8Buffer { bytes in
      bytes.indices.allSatisfy { path[start + $0] == bytes[$0] } ? start : nil
    }
  }

  private static let name: StaticString = ";jsessionid="

  private static func isOfToken(_ byte: UInt8) -> Bool {
    PathByte.isUnreserved(byte) && byte != UInt8(ascii: "~") || byte == UInt8(ascii: "!")
  }
}

extension RouteTable {
  /// As ``match(_:_:)``. A path that would be canonical without a session parameter at its end is canonical with it,
  /// too, where dropping it leads to the same route: whether the application drops it or not, the same rules hold.
  public func matchWithSessionParameter(_ path: Span<UInt8>, _ judgement: PathJudgement) -> RouteDecision {
    guard judgement == .ambiguous(.parameter), let end = SessionParameter.start(in: path) else {
      return match(path, judgement)
    }
    let plain = path.extracting(0..<end)
    guard PathJudgement.judge(plain) == .canonical else { return match(path, judgement) }
    let decision = match(path, .canonical)
    return match(plain, .canonical) == decision ? decision : match(path, judgement)
  }
}
