internal import WebFormats

/// Compiles effective settings of routes into decisions, with deduplicated rules and upstreams.
struct DecisionCompiler {
  private(set) var rules: [AccessRules] = []
  private(set) var upstreams: [String?] = [nil]
  private(set) var networks: [NetworkCondition] = []

  private let groups: GroupNumbers
  private var networkNumbers: [NetworkCondition: Int] = [:]
  private var networksBySource: [[EffectiveRoute.Source]: Int] = [:]
  private var ruleNumbers: [RuleKey: Int] = [:]
  /// Rules by their lists and the places that state their conditions: long lists of `[access]` are compiled once, not
  /// for each route.
  private var rulesBySource: [SourceKey: Int] = [:]
  private var upstreamNumbers: [[UInt8]: Int] = [:]
  private var lists: [CompiledLists] = []
  private var listNumbers: [CompiledLists: Int] = [:]
  private var listsBySource: [EffectiveRoute.Source: Int] = [:]
  /// Deny lists, each compiled once for all routes that it holds for.
  private(set) var denials: [CompiledDenials] = []
  private var denialNumbers: [CompiledDenials: Int] = [:]
  private var denialsBySource: [EffectiveRoute.Source: Int] = [:]

  private struct SourceKey: Hashable {
    var lists: Int
    var conditions: [EffectiveRoute.Source]
    /// Whether only the deny lists of the conditions count.
    var isPublic: Bool
  }

  private struct RuleKey: Hashable {
    /// The number of the lists; -1: everybody is named.
    var lists: Int
    /// The numbers of the deny lists.
    var denials: [Int]
    /// Without lists and deny lists.
    var conditions: AccessRules
  }

  init(_ groups: GroupNumbers) { self.groups = groups }

  /// - Parameter dropsMethodOverride: whether a route with `methods` holds for the host and path.
  mutating func decision(_ effective: EffectiveRoute, dropsMethodOverride: Bool = false) -> RouteDecision {
    var decision = RouteDecision(access: access(effective), unauthenticated: effective.unauthenticated.value)
    if let name = effective.upstream.value { decision.upstream = number(ofUpstream: name) }
    decision.bodyRate = effective.bodyRate.value
    decision.keptFormBytes = effective.keptFormBytes.value
    decision.networks = networks(effective.networks)
    if decision.access == .public {
      // The gate checks the deny lists of `[access]` separately for every user.
      let stated = effective.conditions.filter { $0.source != .access }
      if !stated.isEmpty { decision.denials = rules(-1, stated, isPublic: true) }
    } else {
      decision.maxAge = effective.maxAge.value
    }
    decision.acceptsTokens = effective.tokens.value
    decision.passesPreflights = decision.access == .public || effective.preflight.value == .pass
    decision.dropsMethodOverride = dropsMethodOverride
    return decision
  }

  private mutating func networks(_ stated: [EffectiveRoute.Stated<[NetworkPrefix]>]) -> NetworkIndexes {
    if stated.isEmpty { return NetworkIndexes() }
    let sources = stated.map(\.source)
    if let known = networksBySource[sources] { return NetworkIndexes(known) }
    let condition = NetworkCondition(stated.map(\.value))
    let number = networkNumbers[condition] ?? networks.count
    if number == networks.count {
      networks.append(condition)
      networkNumbers[condition] = number
    }
    networksBySource[sources] = number
    return NetworkIndexes(number)
  }

  private mutating func access(_ effective: EffectiveRoute) -> RouteDecision.Access {
    switch effective.access.value {
    case .public: return .public
    case .signOut: return .signOut
    case .deny: return .deny
    case .signedIn: return effective.conditions.isEmpty ? .signedIn : .rules(rules(-1, effective.conditions))
    case .lists(let lists): return .rules(rules(number(of: lists, effective.access.source), effective.conditions))
    }
  }

  private mutating func rules(
    _ lists: Int, _ stated: [EffectiveRoute.Stated<AccessConditions>], isPublic: Bool = false
  ) -> RuleIndexes {
    let source = SourceKey(lists: lists, conditions: stated.map(\.source), isPublic: isPublic)
    if let known = rulesBySource[source] { return RuleIndexes(known) }
    let conditions = stated.map(\.value)
    var denials: [Int] = []
    for each in stated where !each.value.denied.isEmpty {
      let number = number(of: each.value.denied, each.source)
      if !denials.contains(number) { denials.append(number) }
    }
    let key = RuleKey(
      lists: lists, denials: denials, conditions: AccessRules(compiled: nil, denied: [], conditions: conditions))
    let number = ruleNumbers[key] ?? rules.count
    if number == rules.count {
      ruleNumbers[key] = number
      rules.append(
        AccessRules(
          compiled: lists < 0 ? nil : self.lists[lists], denied: denials.map { self.denials[$0] },
          conditions: conditions))
    }
    rulesBySource[source] = number
    return RuleIndexes(number)
  }

  /// The deny lists that a place states, which are shared with the rules of all routes that they hold for.
  mutating func compiled(_ lists: DenyLists, of source: EffectiveRoute.Source) -> CompiledDenials {
    denials[number(of: lists, source)]
  }

  private mutating func number(of lists: DenyLists, _ source: EffectiveRoute.Source) -> Int {
    if let known = denialsBySource[source] { return known }
    let compiled = CompiledDenials(lists, groups)
    let number = denialNumbers[compiled] ?? denials.count
    if number == denials.count {
      denials.append(compiled)
      denialNumbers[compiled] = number
    }
    denialsBySource[source] = number
    return number
  }

  private mutating func number(of lists: AccessLists, _ source: EffectiveRoute.Source) -> Int {
    if let known = listsBySource[source] { return known }
    let compiled = CompiledLists(lists, groups)
    let number = listNumbers[compiled] ?? self.lists.count
    if number == self.lists.count {
      self.lists.append(compiled)
      listNumbers[compiled] = number
    }
    listsBySource[source] = number
    return number
  }

  private mutating func number(ofUpstream name: String) -> Int {
    let key = Array(name.utf8)
    if let known = upstreamNumbers[key] { return known }
    upstreamNumbers[key] = upstreams.count
    upstreams.append(name)
    return upstreams.count - 1
  }
}
