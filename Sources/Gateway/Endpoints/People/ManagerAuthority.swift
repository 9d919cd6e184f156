internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import Sessions

/// The rights of managers: which users are managers, and which users and groups managers may not change.
/// Evaluated for each request.
struct ManagerAuthority: Sendable {
  /// `access.managers`.
  let managers: [String]
  /// The groups of all deny lists.
  let denyGroups: [String]
  /// `access.allow_groups`.
  private let allowGroups: [String]
  let evaluator: AccessEvaluator

  /// - Parameter routes: all routes of the configuration.
  init(_ access: AccessSettings, _ routes: [RouteSettings], _ evaluator: AccessEvaluator) {
    managers = access.managers
    denyGroups = access.denyGroups(with: routes)
    allowGroups = access.lists?.groups ?? []
    self.evaluator = evaluator
  }

  /// The longest age of a manager's sign-in.
  static let longestAge = Duration.seconds(3_600)

  /// The status of a signed-in user.
  enum Status { case manager, signInTooOld, banned, nobody }

  /// The status of a session's user now.
  func status(_ snapshot: SessionSnapshot, at now: Date) -> Status {
    switch evaluator.refusal(snapshot.account, at: now) {
    case .banned: return .banned
    case .denied: return .nobody
    case nil: break
    }
    guard evaluator.isMember(evaluator.principal(snapshot.account), ofAny: managers) else { return .nobody }
    return snapshot.session.isRecent(Self.longestAge, at: now) ? .manager : .signInTooOld
  }

  /// Whether no act of a manager may name a group: one of managers, or of a deny list.
  func isProtected(group: String) -> Bool {
    (managers + denyGroups).contains { $0.utf8.elementsEqual(group.utf8) }
  }

  /// Whether no act of a manager may name a user: another manager.
  func isProtected(_ user: Principal, from manager: Subject) -> Bool {
    !user.subject.utf8.elementsEqual(manager.text.utf8) && evaluator.isMember(user, ofAny: managers)
  }

  /// The declared groups that managers may add to, sorted. Those that `[access]` admits come first: a form proposes the
  /// first one, and it is to let a user in.
  var groups: [String] {
    let names = evaluator.policy.groups.names.filter { !isProtected(group: $0) }
    let (admitted, others) = (names.filter(isAdmitted), names.filter { !isAdmitted($0) })
    return admitted + others
  }

  private func isAdmitted(_ group: String) -> Bool {
    allowGroups.contains { $0.utf8.elementsEqual(group.utf8) }
  }
}

extension AccessSettings {
  /// The names of the groups of all deny lists: of `[access]` and of routes.
  func denyGroups(with routes: [RouteSettings]) -> [String] {
    conditions.denied.groups + routes.flatMap(\.conditions.denied.groups)
  }
}
