internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import Sessions

/// The rights of managers: who is one, and whom and which groups managers may not touch. It is asked for each request.
struct ManagerAuthority: Sendable {
  /// `access.managers`.
  let managers: [String]
  /// The groups of all deny lists.
  let denyGroups: [String]
  let judge: AccessJudge

  /// - Parameter routes: all routes of the configuration.
  init(_ access: AccessSettings, _ routes: [RouteSettings], _ judge: AccessJudge) {
    managers = access.managers
    denyGroups = access.conditions.denied.groups + routes.flatMap(\.conditions.denied.groups)
    self.judge = judge
  }

  /// The longest age of a manager's sign-in.
  static let longestAge = Duration.seconds(3_600)

  /// The standing of a signed-in user.
  enum Standing { case manager, signInTooOld, banned, nobody }

  /// The standing of a session's user now.
  func standing(_ snapshot: SessionSnapshot, at now: Date) -> Standing {
    switch judge.refusal(snapshot.account, at: now) {
    case .banned: return .banned
    case .denied: return .nobody
    case nil: break
    }
    guard judge.isMember(judge.principal(snapshot.account), ofAny: managers) else { return .nobody }
    return snapshot.session.isRecent(Self.longestAge, at: now) ? .manager : .signInTooOld
  }

  /// Whether no act of a manager may name a group: one of managers, or of a deny list.
  func isProtected(group: String) -> Bool {
    (managers + denyGroups).contains { $0.utf8.elementsEqual(group.utf8) }
  }

  /// Whether no act of a manager may name a user: another manager.
  func isProtected(_ user: Principal, from manager: Subject) -> Bool {
    !user.subject.utf8.elementsEqual(manager.text.utf8) && judge.isMember(user, ofAny: managers)
  }

  /// The declared groups that managers may add to, sorted.
  var groups: [String] { judge.policy.groups.names.filter { !isProtected(group: $0) } }
}
