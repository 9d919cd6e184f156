/// The routes that can hold for requests to one host, in two tries: one over the bytes of paths, one over their lenient
/// reading. The decision for each path and method is precomputed.
final class RouteTree: Sendable {
  /// A path that has routes.
  struct Place {
    /// The row of what lies at or below the path as a prefix; ``noRow`` where no route holds for the path as a prefix.
    var prefix = RouteTree.noRow
    /// The row of the path itself where a route holds for exactly it; ``noRow`` otherwise.
    var exact = RouteTree.noRow
    /// The row of the path itself together with what lies below it, where an exact route holds for the path alone;
    /// ``noRow`` otherwise.
    var exactWithRest = RouteTree.noRow
    /// The length of the path of the route whose `access` each row has, the least of all methods; 0 if that of no route
    /// is in effect.
    var prefixAccessDepth: Int32 = 0
    var exactAccessDepth: Int32 = 0
    /// This place and those whose paths lie under its path as a prefix, or as that of a file with an exact route, in an
    /// order in which they are contiguous.
    var subtree: Range<Int32> = 0..<0
  }

  /// A place at which routes state who may pass, under the lenient reading of its path.
  struct LooseEntry {
    var looseNode: Int32
    var place: Int32
    /// Whether it is for exactly the path.
    var isExact: Bool
    /// Whether it is for exactly a file, and so also for what servers take for the file with more behind its name.
    var coversPathInfo: Bool
    /// The length of the file's path if a route for what is behind its name may admit more users there; nil if the
    /// exact routes state more than access.
    var liftableLength: Int32?
    /// The row of decisions; ``noDecision`` for methods for which no route of the place states anything.
    var row: Int32
  }

  static let noRow = Int32.min
  static let noDecision = Int32.max

  private let exact: ByteTrie
  private let loose: ByteTrie
  private let places: [Place]
  /// The place of each node of `exact`; -1 for nodes without one.
  private let placeOfNode: [Int32]
  /// In the order of their nodes.
  private let entries: [LooseEntry]
  /// The first entry of each node of `loose`; -1 for nodes without one.
  private let firstEntry: [Int32]
  /// The row of the entries below each folder: the strictest of all. ``noRow`` where they restrict nobody.
  private let folders: [Int32]
  /// The folder of each node of `loose` that a slash leads to; -1 for all other nodes.
  private let folderOfNode: [Int32]
  private let decisions: [RouteDecision]
  /// Decisions by method, ``stride`` for each row that differs by method.
  private let table: [Int32]
  private let stride: Int

  /// The rows of what no route holds for, of the route `/`, and of what could be anywhere.
  private let defaultRow: Int32
  private let rootRow: Int32
  private let everywhereRow: Int32
  /// The greatest strictness of any entry.
  private let strictest: Int
  private let hasUnauthorizedEntry: Bool
  /// Whether an entry has networks, a maximum age, methods or denials.
  private let hasConditionalEntry: Bool
  private let hasEntryWithoutTokens: Bool
  private let hasEntryWithoutPreflights: Bool
  /// The kinds of access that a request can meet: users who pass one of these can be admitted somewhere.
  let reachable: Set<RouteDecision.Access>

  init(_ parts: consuming RouteTreeBuilder.Parts) {
    exact = parts.exact
    loose = parts.loose
    places = parts.places
    placeOfNode = parts.placeOfNode
    entries = parts.entries
    firstEntry = parts.firstEntry
    folders = parts.folders
    folderOfNode = parts.folderOfNode
    decisions = parts.rows.decisions
    table = parts.rows.table
    stride = parts.rows.stride
    defaultRow = parts.defaultRow
    rootRow = parts.rootRow
    everywhereRow = parts.everywhereRow
    strictest = parts.stating.map(\.access.strictness).max() ?? 0
    hasConditionalEntry = parts.stating.contains {
      !$0.networks.isEmpty || $0.maxAge > 0 || $0.dropsMethodOverride || !$0.denials.isEmpty
    }
    hasEntryWithoutTokens = parts.stating.contains {
      $0.access != .public && (!$0.acceptsTokens || $0.access == .signedIn)
    }
    hasEntryWithoutPreflights = parts.stating.contains { !$0.passesPreflights }
    reachable = parts.reachable
    hasUnauthorizedEntry = parts.stating.contains { $0.access != .public && $0.unauthenticated == .unauthorized }
  }

  /// The decision on a path, whose classification must not be a refusal. Without allocation; the time is proportional
  /// to the length of the path, as far as it is the beginning of a route's.
  func match(
    _ path: Span<UInt8>, _ classification: PathClassification, method: Int, depth: RequestDepth
  ) -> RouteDecision {
    var request = Request(method: method)
    var row = defaultRow
    var node = 0
    var index = 0
    while index < path.count {
      node = exact.child(of: node, path[index])
      if node < 0 { break }
      index += 1
      let place = placeOfNode[node]
      guard place >= 0 else { continue }
      if index == path.count { request.exactPlace = place }
      let prefix = places[Int(place)].prefix
      // A prefix ends with a slash, or the path has a slash, or its end, next.
      if prefix != Self.noRow,
        index == path.count || path[index - 1] == UInt8(ascii: "/") || path[index] == UInt8(ascii: "/")
      {
        row = prefix
        request.prefixPlace = place
      }
    }
    if request.exactPlace >= 0 {
      let place = places[Int(request.exactPlace)]
      let exact = depth == .resource ? place.exact : place.exactWithRest
      if exact != Self.noRow { row = exact }
    }
    let own = self[row, method]
    var decision = own
    if case .ambiguous(let ambiguity) = classification {
      if ambiguity.couldBeAnywhere {
        restrictEverywhere(&decision, method)
        return decision.marked(against: own)
      }
      if ambiguity != .cookieless { restrictToDefault(&decision, method) }
    }
    let isRestrictable = canBeRestricted(decision)
    guard isRestrictable else { return classification != .canonical ? decision.marked(against: own) : decision }
    var below: RouteDecision?
    readLoosely(path, LooseReading(), at: 0, request, &decision, &below)
    decision = decision.marked(against: own)
    if let below { include(below, depth, in: &decision) }
    return decision
  }

  /// Requires a decision on a path to admit to what the request acts on below the path, too. As an application may take
  /// the method from another field, such fields are removed where the depth of another method would make a difference.
  /// - Parameter below: the decision on everything below the path, in every reading of the path as a folder.
  private func include(_ below: RouteDecision, _ depth: RequestDepth, in decision: inout RouteDecision) {
    if decision.access == .signOut { return }
    let whole = decision.restricted(by: below)
    if depth == .everything {
      decision = whole
    } else if whole.dropsMethodOverride || whole.admitsOthers(than: decision) {
      decision.dropsMethodOverride = true
    }
  }

  /// Requires a decision on a path to meet every route, and the default.
  func restrictEverywhere(_ decision: inout RouteDecision, _ method: Int) {
    restrictToDefault(&decision, method)
    decision = decision.restricted(by: self[everywhereRow, method])
  }

  /// Requires a decision on a path to be no laxer than the default, nor than the route `/`.
  private func restrictToDefault(_ decision: inout RouteDecision, _ method: Int) {
    decision = decision.noLaxer(than: self[defaultRow, method]).noLaxer(than: self[rootRow, method])
  }

  /// Whether any route states who may pass, or names methods: otherwise further readings of a path change nothing.
  var canRestrict: Bool { !entries.isEmpty }

  /// Whether any request needs more than a session.
  var hasRestrictions: Bool { decisions.contains { $0.isRestriction } }

  /// The result of the walk over the exact bytes.
  private struct Request {
    let method: Int
    /// The place of the longest prefix that the path lies under; -1 without one.
    var prefixPlace: Int32 = -1
    /// The place of exactly this path; -1 without one.
    var exactPlace: Int32 = -1
  }

  @inline(__always)
  private func canBeRestricted(_ decision: RouteDecision) -> Bool {
    let strictness = decision.access.strictness
    let rules = RouteDecision.Access.rulesStrictness
    return strictness < RouteDecision.Access.deny.strictness
      && (strictest > strictness || strictest == rules && strictness == rules
        || hasUnauthorizedEntry && decision.unauthenticated == .automatic || hasConditionalEntry
        || hasEntryWithoutTokens && decision.acceptsTokens || hasEntryWithoutPreflights && decision.passesPreflights)
  }

  /// Walks the lenient readings of the rest of a path. Where a segment may end, or continue with parts that servers
  /// drop, both are followed; each node is reached at most once. If the walk is not at its end when it comes to a byte
  /// that is not UTF-8, the path may go on as any route's.
  private func readLoosely(
    _ path: Span<UInt8>, _ start: LooseReading, at startNode: Int, _ request: Request, _ decision: inout RouteDecision,
    _ below: inout RouteDecision?
  ) {
    var (reading, node) = (start, startNode)
    while true {
      let slash = loose.child(of: node, UInt8(ascii: "/"))
      if slash >= 0 || firstEntry[node] >= 0, let end = reading.segmentEnd(in: path) {
        if end.isAtLegacyByte(of: path) { return restrictEverywhere(&decision, request.method) }
        let next = end.behindSeparators(in: path)
        // The last segment may be one that servers drop as a whole: `/%20` is `/`.
        let last = next ?? end
        let isPathEnd = (last.segmentEnd(in: path) ?? last).isAtPathEnd(in: path)
        if firstEntry[node] >= 0 { restrict(&decision, at: node, request, isPathEnd: isPathEnd) }
        if slash >= 0, isPathEnd { add(Int(folderOfNode[slash]), request, to: &below) }
        if slash >= 0, let next { readLoosely(path, next, at: slash, request, &decision, &below) }
      }
      if reading.isAtLegacyByte(of: path) { return restrictEverywhere(&decision, request.method) }
      guard let byte = reading.next(in: path), byte != UInt8(ascii: "/") else { return }
      node = loose.child(of: node, byte)
      if node < 0 { return }
    }
  }

  /// Adds what lies below a folder that a path is, in one of its readings.
  private func add(_ folder: Int, _ request: Request, to below: inout RouteDecision?) {
    guard folder >= 0, folders[folder] != Self.noRow else { return }
    let decision = self[folders[folder], request.method]
    below = below.map { $0.restricted(by: decision) } ?? decision
  }

  private func restrict(_ decision: inout RouteDecision, at node: Int, _ request: Request, isPathEnd: Bool) {
    var index = Int(firstEntry[node])
    while index < entries.count, entries[index].looseNode == node {
      let entry = entries[index]
      index += 1
      let isElsewhere =
        entry.isExact
        ? entry.place == request.exactPlace || !isPathEnd && !coversPathInfo(entry, request)
        : isPrefix(entry.place, request)
      if isElsewhere { continue }
      let number = number(entry.row, request.method)
      if number != Self.noDecision { decision = decision.restricted(by: decisions[Int(number)]) }
    }
  }

  /// Whether an exact route also holds for what is behind the name of its file: not where the access is that of a route
  /// whose path lies there, byte for byte, which was written for it.
  private func coversPathInfo(_ entry: LooseEntry, _ request: Request) -> Bool {
    guard entry.coversPathInfo, let length = entry.liftableLength else { return entry.coversPathInfo }
    let isExact = request.exactPlace >= 0 && places[Int(request.exactPlace)].exact != Self.noRow
    let number = isExact ? request.exactPlace : request.prefixPlace
    guard number >= 0 else { return true }
    let place = places[Int(number)]
    return (isExact ? place.exactAccessDepth : place.prefixAccessDepth) <= length
      || !places[Int(entry.place)].subtree.contains(place.subtree.lowerBound)
  }

  /// Whether the path lies under a place's path byte for byte.
  @inline(__always)
  private func isPrefix(_ place: Int32, _ request: Request) -> Bool {
    request.prefixPlace >= 0
      && places[Int(place)].subtree.contains(places[Int(request.prefixPlace)].subtree.lowerBound)
  }

  @inline(__always)
  private subscript(row: Int32, method: Int) -> RouteDecision { decisions[Int(number(row, method))] }

  /// The number of a row's decision: the row itself, or an entry of the table.
  @inline(__always)
  private func number(_ row: Int32, _ method: Int) -> Int32 {
    row >= 0 ? row : table[Int(~row) &* stride &+ method]
  }
}
