internal import WebFormats

/// Errors of refused changes of access, each with its remedy. Nothing was changed.
extension AdminError {
  static let pastDate = AdminError(
    status: 400, code: "past_date", message: "the date is in the past: give one that is still to come")
  static let badDate = AdminError(
    status: 400, code: "bad_date",
    message: "this is not a date: write 2026-12-31 (the end of that day, UTC), 2026-12-31T18:00:00Z, or a duration "
      + "from now as in 30d")
  static let badBeginning = AdminError(
    status: 400, code: "bad_date",
    message: "this is not a date: write 2026-12-31 (the beginning of that day, UTC), 2026-12-31T18:00:00Z, or an age "
      + "as in 30d")
  static let endTooLate = AdminError(
    status: 400, code: "bad_expiry",
    message:
      "an invitation or a token can end at most \(AccessTimes.longestDays) days from now: give an earlier "
      + "end; a token without expires never ends by itself")
  static let badUses = AdminError(
    status: 400, code: "bad_uses",
    message: "an invitation admits 1 to \(InvitationSettings.mostUses) users: give uses in this range")
  static let badGroup = AdminError(
    status: 400, code: "bad_group", message: "the name of a group is 1 to 64 letters, digits, \"-\", \"_\" or \".\"")
  static let badTokenName = AdminError(
    status: 400, code: "bad_name", message: "the name of a token is 1 to 64 letters, digits, \"-\", \"_\" or \".\"")
  static let badCode = AdminError(
    status: 400, code: "bad_code",
    message: "the code of a request is eight letters and digits, as in K7QF-3MDP; or give the user's subject")
  static let notBanned = AdminError(
    status: 404, code: "not_banned", message: "this user is not banned: there is nothing to lift")
  /// The answer to a manager, who cannot lift or change a ban of an operator.
  static let protectedBan = AdminError(
    status: 403, code: "protected",
    message: "an operator has banned this user: `cordon accounts ban` and `unban` change it")
  static let noRequest = AdminError(
    status: 404, code: "no_request",
    message: "there is no open request with this code or of this subject: see `cordon requests list`")
  static let noRequestToAdmit = AdminError(
    status: 404, code: "no_request",
    message: "\(noRequest.message); `cordon groups add` admits a user who has not asked")
  static let noInvitation = AdminError(
    status: 404, code: "no_invitation",
    message: "there is no invitation with this ID: see `cordon invitations list`")
  static let invitationMade = AdminError(
    status: 409, code: "invitation_made",
    message: "this form has made its invitation already: load the page again for another")
  static let noMachineToken = AdminError(
    status: 404, code: "no_token", message: "there is no token with this name: see `cordon tokens list`")
  static let tokenNameTaken = AdminError(
    status: 409, code: "name_taken",
    message: "there is a token with this name: choose another name, or revoke that token first")
  static let tokenBan = AdminError(
    status: 409, code: "token_subject",
    message: "a machine token cannot be banned: revoke it with `cordon tokens revoke`")
  static let tokenMember = AdminError(
    status: 409, code: "token_subject",
    message: "a machine token is in the one group that it was made for: make another token for another group")
  static let addressForSubject = AdminError(
    status: 400, code: "address_for_subject",
    message: "this is an address, and a subject is needed: find it with GET /accounts?email=ADDRESS, "
      + "and look at email_verified")
  /// See `AccessChanges.mostInvitations`.
  static let tooManyInvitations = AdminError(
    status: 409, code: "too_many", message: "there are 1,000 open invitations: revoke some, or let one admit more users"
  )
  /// See `AccessChanges.mostTokens`.
  static let tooManyTokens = AdminError(
    status: 409, code: "too_many", message: "there are 1,000 tokens: revoke those that are no longer used")

  /// - Parameter name: the member of the request that is too long or has several lines.
  static func badNote(_ name: String) -> AdminError {
    AdminError(
      status: 400, code: "bad_\(name)",
      message: "\(name) is one line of at most \(AccessNote.limit) bytes: make it shorter")
  }

  static func notMember(of group: String) -> AdminError {
    AdminError(
      status: 404, code: "not_member",
      message: "the user was not added to \(group): see `cordon accounts list --group \(group)`")
  }

  static let configuredMemberCode = "configured_member"
  static let unknownGroupCode = "unknown_group"

  /// - Parameter place: the place of the configuration that names the member.
  static func configuredMember(_ member: String, of group: String, at place: String?) -> AdminError {
    AdminError(
      status: 409, code: configuredMemberCode,
      message: "the configuration has \"\(member)\" in group \(group)\(place.map { " (\($0))" } ?? ""): remove it from "
        + "members or members_file of [[group]] \(group)")
  }

  static func unknownGroup(_ group: String, among names: [String]) -> AdminError {
    let nearest = NearestKey.find(group, among: names).map { "; did you mean \($0)?" } ?? ""
    let declared =
      names.isEmpty
      ? "no group is declared: add a [[group]] to the configuration and reload it"
      : "the declared groups are \(names.prefix(20).joined(separator: ", "))\(names.count > 20 ? ", …" : "")"
    return AdminError(
      status: 404, code: unknownGroupCode, message: "no [[group]] declares \(group)\(nearest); \(declared)")
  }
}
