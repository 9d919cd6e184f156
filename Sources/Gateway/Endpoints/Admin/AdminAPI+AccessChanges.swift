internal import DataPlane
internal import FoundationEssentials
internal import Sessions

/// The operations on access.
extension AdminAPI {
  /// Performs an operation. Changes are audited by ``AccessChanges``, lists here.
  func carryOut(
    _ operation: AccessOperation, by caller: AccessAuthor, _ request: ControlRequest
  ) async throws(AdminError) -> ControlResponse {
    let actor = AccessChanges.Actor(author: caller, peer: request.client.address, requestID: request.requestID)
    switch operation {
    case .list(let list): return try await audited(list, by: caller, request)
    case .ban(let subject, let until, let reason):
      let (ban, ended) = try await accessChanges.ban(subject, until: until, reason: reason, by: actor)
      return Self.json(BannedReport(subject: subject.text, ban: BanReport(ban), ended: ended))
    case .unban(let subject):
      try await accessChanges.unban(subject, by: actor)
      return Self.json(UnbannedReport(subject: subject.text))
    case .addMember(let subject, let group):
      let (member, isNew) = try await accessChanges.add(subject, to: group, by: actor)
      return Self.json(MemberReport(subject: member.text, group: group, isMember: true, isChanged: isNew))
    case .removeMember(let subject, let group):
      let member = try await accessChanges.remove(subject, from: group, by: actor)
      return Self.json(MemberReport(subject: member.text, group: group, isMember: false, isChanged: true))
    case .admit(let request, let group):
      let admitted = try await accessChanges.admit(request, to: group, by: actor)
      return Self.json(DecisionReport(admitted, group: group))
    case .reject(let request):
      return Self.json(DecisionReport(try await accessChanges.reject(request, by: actor), group: nil))
    case .invite(let settings):
      let (invitation, link) = try await accessChanges.invite(settings, by: actor)
      return Self.json(InvitationReport(invitation, at: accessChanges.now, link: link))
    case .revokeInvitation(let id):
      try await accessChanges.revokeInvitation(id, by: actor)
      return Self.json(RevokedReport(revoked: id))
    case .createToken(let name, let group, let expires):
      let (token, text) = try await accessChanges.createToken(name: name, group: group, expires: expires, by: actor)
      return Self.json(TokenReport(token, at: accessChanges.now, text: text))
    case .revokeToken(let name):
      try await accessChanges.revokeToken(name, by: actor)
      return Self.json(RevokedReport(revoked: name))
    }
  }

  private func audited(
    _ list: AccessOperation.List, by caller: AccessAuthor, _ request: ControlRequest
  ) async throws(AdminError) -> ControlResponse {
    do throws(AdminError) {
      let response = try await contents(of: list)
      record(list.name, by: caller, request)
      return response
    } catch {
      record(list.name, by: caller, failed: error.code, request)
      throw error
    }
  }

  private func contents(of list: AccessOperation.List) async throws(AdminError) -> ControlResponse {
    switch list {
    case .accounts(let filter):
      let since = try filter.seenSince.map { text throws(AdminError) in
        try AccessTimes.since(text, now: accessChanges.now)
      }
      let page = try await accessChanges.accounts(
        group: filter.group, seenSince: since, after: filter.after, limit: filter.limit)
      return Self.json(
        AccountsReport(
          accounts: page.accounts.map { AccountReport($0, at: accessChanges.now) }, next: page.next?.text,
          damaged: page.damaged.names))
    case .groups:
      let groups = try await accessChanges.groupList().map { GroupReport($0, denyGroups: denyGroups) }
      return Self.json(GroupsReport(groups: groups))
    case .requests(let after, let limit):
      let page = try await accessChanges.requests(after: after, limit: limit)
      return Self.json(
        RequestsReport(
          requests: page.requests.map { RequestReport($0.request, $0.account) }, next: page.next?.text,
          damaged: page.damaged.names))
    case .invitations:
      let (now, listed) = (accessChanges.now, try await accessChanges.invitations())
      return Self.json(
        InvitationsReport(
          invitations: listed.records().map { InvitationReport($0, at: now) }, damaged: listed.damagedRecords().names))
    case .tokens:
      let (now, listed) = (accessChanges.now, try await accessChanges.tokens())
      return Self.json(
        TokensReport(
          tokens: listed.records().map { TokenReport($0, at: now) }, damaged: listed.damagedRecords().names))
    }
  }
}
