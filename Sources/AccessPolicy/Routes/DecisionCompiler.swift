/// Makes decisions of what holds for a route, with the rules and upstreams that they point to, each kept once.
struct DecisionCompiler {
  private(set) var rules: [AccessRules] = []
  private(set) var upstreams: [String?] = [nil]

  private var ruleNumbers: [RuleKey: Int] = [:]
  private var upstreamNumbers: [[UInt8]: Int] = [:]
  private var lists: [CompiledLists] = []
  private var listNumbers: [CompiledLists: Int] = [:]
  private var listsBySource: [EffectiveRoute.Source: Int] = [:]

  private struct RuleKey: Hashable {
    /// The number of the lists; -1: everybody is named.
    var lists: Int
    /// Without lists.
    var conditions: AccessRules
  }

  mutating func decision(_ effective: EffectiveRoute) -> RouteDecision {
    var decision = RouteDecision(access: access(effective), unauthenticated: effective.unauthenticated.value)
    if let name = effective.upstream.value { decision.upstream = number(ofUpstream: name) }
    decision.bodyRate = effective.bodyRate.value
    return decision
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
    var conditions = AccessConditions()
    for each in stated.map(\.value) {
      if each.privateEmail != .allow { conditions.privateEmail = each.privateEmail }
      conditions.requirements += each.requirements
    }
    let key = RuleKey(lists: lists, conditions: AccessRules(compiled: nil, conditions: conditions))
    if let known = ruleNumbers[key] { return .rules(RuleIndexes(known)) }
    ruleNumbers[key] = rules.count
    rules.append(AccessRules(compiled: lists < 0 ? nil : self.lists[lists], conditions: conditions))
    return .rules(RuleIndexes(rules.count - 1))
  }

  private mutating func number(of lists: AccessLists, _ source: EffectiveRoute.Source) -> Int {
    if let known = listsBySource[source] { return known }
    let compiled = CompiledLists(lists)
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
