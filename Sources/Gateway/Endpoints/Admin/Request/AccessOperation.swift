internal import AppleIdentity
internal import Sessions
internal import WebFormats

/// An operation of the admin API on access, from method, target and body of a request.
enum AccessOperation: Equatable {
  case listAccounts(AccountFilter)
  case ban(Subject, until: String?, reason: String?)
  case unban(Subject)
  case listGroups
  case addMember(Subject, group: String)
  case removeMember(Subject, group: String)
  case listRequests(after: AccessRequestCode?, limit: Int)
  /// The request is named by its code or by the user's subject, as in `reject`.
  case admit(String, group: String)
  case reject(String)
  case listInvitations
  case invite(InvitationSettings)
  case revokeInvitation(String)
  case listTokens
  case createToken(name: String, group: String, expires: String?)
  case revokeToken(String)

  /// The accounts that a list is to show.
  struct AccountFilter: Equatable {
    var group: String?
    var seenSince: String?
    var after: Subject?
    var limit = AccessOperation.defaultLimit
  }

  /// The settings of a new invitation.
  struct InvitationSettings: Equatable {
    var group: String
    var uses = 1
    var expires = "7d"
    var note: String?
  }

  static let defaultLimit = 100
  static let largestLimit = 1_000
  /// The first parts of paths that are these operations alone.
  static let folders = ["groups", "requests", "invitations", "tokens"]

  /// The name in the audit, for operations that change nothing; the others are audited where they are carried out.
  var listName: String? {
    switch self {
    case .listAccounts: "list_accounts"
    case .listGroups: "list_groups"
    case .listRequests: "list_requests"
    case .listInvitations: "list_invitations"
    case .listTokens: "list_tokens"
    case .ban, .unban, .addMember, .removeMember, .admit, .reject, .invite, .revokeInvitation, .createToken,
      .revokeToken:
      nil
    }
  }

  /// Nil for any other path.
  /// - Parameter parts: the parts of the path, decoded; nil for one that cannot be decoded.
  init?(
    method: AdminMethod, parts: [String?], query: [UInt8], body: [UInt8]
  ) throws(AdminError) {
    let second = parts.count > 1 ? parts[1] : nil
    switch (parts.first, parts.count) {
    case ("accounts", 3) where parts[2] == "ban":
      try method.require(["PUT", "DELETE"])
      let subject = try AdminRequest.subject(second)
      guard method == .put else {
        self = .unban(subject)
        return
      }
      let body = try AdminRequestBody(body, members: ["until", "reason"])
      self = .ban(subject, until: try body.text("until"), reason: try body.text("reason"))
    case ("groups", 1):
      try method.require(["GET"])
      self = .listGroups
    case ("groups", 4) where parts[2] == "members":
      try method.require(["PUT", "DELETE"])
      guard let group = second else { throw .badGroup }
      let subject = try AdminRequest.subject(parts[3])
      if method == .put { _ = try AdminRequestBody(body, members: []) }
      self = method == .put ? .addMember(subject, group: group) : .removeMember(subject, group: group)
    case ("requests", 1):
      try method.require(["GET"])
      let fields = try AdminRequest.fields(query, ["after", "limit"])
      var after: AccessRequestCode?
      if let text = fields["after"] {
        after = AccessRequestCode(text)
        guard after != nil else { throw .badCode }
      }
      self = .listRequests(after: after, limit: try Self.limit(fields["limit"]))
    case ("requests", 3) where parts[2] == "admit":
      try method.require(["POST"])
      guard let request = second else { throw .badCode }
      self = .admit(request, group: try AdminRequestBody(body, members: ["group"]).required("group"))
    case ("requests", 3) where parts[2] == "reject":
      try method.require(["POST"])
      guard let request = second else { throw .badCode }
      _ = try AdminRequestBody(body, members: [])
      self = .reject(request)
    case ("invitations", 1):
      try method.require(["GET", "POST"])
      self = method == .get ? .listInvitations : .invite(try Self.invitation(body))
    case ("invitations", 2):
      try method.require(["DELETE"])
      self = .revokeInvitation(second ?? "")
    case ("tokens", 1):
      try method.require(["GET", "POST"])
      guard method == .post else {
        self = .listTokens
        return
      }
      let body = try AdminRequestBody(body, members: ["name", "group", "expires"])
      self = .createToken(
        name: try body.required("name"), group: try body.required("group"), expires: try body.text("expires"))
    case ("tokens", 2):
      try method.require(["DELETE"])
      self = .revokeToken(second ?? "")
    default: return nil
    }
  }

  /// The list of accounts that a query asks for.
  static func listing(_ fields: [String: String]) throws(AdminError) -> AccessOperation {
    var filter = AccountFilter(group: fields["group"], seenSince: fields["seen_since"])
    if let after = fields["after"] { filter.after = try AdminRequest.subject(after) }
    filter.limit = try limit(fields["limit"])
    return .listAccounts(filter)
  }

  private static func invitation(_ body: [UInt8]) throws(AdminError) -> InvitationSettings {
    let body = try AdminRequestBody(body, members: ["group", "uses", "expires", "note"])
    var invitation = InvitationSettings(group: try body.required("group"))
    if let uses = try body.integer("uses") { invitation.uses = uses }
    if let expires = try body.text("expires") { invitation.expires = expires }
    invitation.note = try body.text("note")
    return invitation
  }

  /// The length of a page that a query asks for.
  static func limit(_ text: String?, default usual: Int = defaultLimit) throws(AdminError) -> Int {
    guard let text else { return usual }
    guard let limit = DecimalDigits.parse(Array(text.utf8), limit: largestLimit), limit > 0 else { throw .badLimit }
    return limit
  }
}
