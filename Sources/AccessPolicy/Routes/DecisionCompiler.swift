internal import WebFormats

/// Makes decisions of what holds for a route, with the rules and upstreams that they point to, each kept once.
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

  private struct SourceKey: Hashable {
    var lists: Int
    var conditions: [EffectiveRoute.Source]
  }

  private struct RuleKey: Hashable {
    /// The number of the lists; -1: everybody is named.
    var lists: Int
    /// Without lists.
    var conditions: AccessRules
  }

  init(_ groups: GroupNumbers) { self.groups = groups }

  /// - Parameter dropsMethodOverride: whether a route with `methods` holds for the host and path.
  mutating func decision(_ effective: EffectiveRoute, dropsMethodOverride: Bool = false) -> RouteDecision {
    var decision = RouteDecision(access: access(effective), unauthenticated: effective.unauthenticated.value)
    if let name = effective.upstream.value { decision.upstream = number(ofUpstream: name) }
    decision.bodyRate = effective.bodyRate.value
    decision.networks = networks(effective.networks)
    if decision.access != .public { decision.maxAge = effective.maxAge.value }
    decision.acceptsTokens = effective.tokens.value
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
    case .deny: return .deny
    case .signedIn: return effective.conditions.isEmpty ? .signedIn : rules(-1, effective.conditions)
    case .lists(let lists): return rules(number(of: lists, effective.access.source), effective.conditions)
    }
  }

  private mutating func rules(
    _ lists: Int, _ stated: [EffectiveRoute.Stated<AccessConditions>]
  ) -> RouteDecision.Access {
    let source = SourceKey(lists: lists, conditions: stated.map(\.source))
    if let known = rulesBySource[source] { return .rules(RuleIndexes(known)) }
    var conditions = AccessConditions()
    for each in stated.map(\.value) {
      if each.privateEmail != .allow { conditions.privateEmail = each.privateEmail }
      conditions.requirements += each.requirements
      conditions.denied.formUnion(each.denied)
    }
    let key = RuleKey(lists: lists, conditions: AccessRules(compiled: nil, conditions: conditions, groups))
    let number = ruleNumbers[key] ?? rules.count
    if number == rules.count {
      ruleNumbers[key] = number
      rules.append(AccessRules(compiled: lists < 0 ? nil : self.lists[lists], conditions: conditions, groups))
    }
    rulesBySource[source] = number
    return .rules(RuleIndexes(number))
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
