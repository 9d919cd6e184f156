internal import AppleIdentity
internal import Sessions
internal import WebFormats

/// An operation of the admin API on access, from method, target and body of a request.
enum AccessOperation: Equatable {
  case list(List)
  case ban(Subject, until: String?, reason: String?)
  case unban(Subject)
  case addMember(Subject, group: String)
  case removeMember(Subject, group: String)
  /// The request is named by its code or by the user's subject, as in `reject`.
  case admit(String, group: String)
  case reject(String)
  case invite(InvitationSettings)
  case revokeInvitation(String)
  case createToken(name: String, group: String, expires: String?)
  case revokeToken(String)

  /// A list, which changes nothing.
  enum List: Equatable {
    case accounts(AccountFilter)
    case groups
    case requests(after: AccessRequestCode?, limit: Int)
    case invitations
    case tokens

    /// The name in the audit.
    var name: String {
      switch self {
      case .accounts: "list_accounts"
      case .groups: "list_groups"
      case .requests: "list_requests"
      case .invitations: "list_invitations"
      case .tokens: "list_tokens"
      }
    }
  }

  /// The accounts that a list is to show.
  struct AccountFilter: Equatable {
    var group: String?
    var seenSince: String?
    var after: Subject?
    var limit = AccessOperation.defaultLimit
  }

  static let defaultLimit = 100
  static let largestLimit = 1_000
  /// The first parts of paths that are these operations alone.
  static let folders = ["groups", "requests", "invitations", "tokens"]

  /// Nil for any other path.
  /// - Parameter parts: the parts of the path, decoded; nil for one that cannot be decoded.
  init?(
    method: AdminMethod, parts: [String?], query: [UInt8], body: [UInt8]
  ) throws(AdminError) {
    let operation: AccessOperation?
    switch parts.first {
    case "accounts": operation = try Self.onAccounts(method, parts, body)
    case "groups": operation = try Self.onGroups(method, parts, body)
    case "requests": operation = try Self.onRequests(method, parts, query, body)
    case "invitations": operation = try Self.onInvitations(method, parts, body)
    case "tokens": operation = try Self.onTokens(method, parts, body)
    default: operation = nil
    }
    guard let operation else { return nil }
    self = operation
  }

  /// `accounts/SUB/ban`.
  private static func onAccounts(
    _ method: AdminMethod, _ parts: [String?], _ body: [UInt8]
  ) throws(AdminError) -> AccessOperation? {
    guard parts.count == 3, parts[2] == "ban" else { return nil }
    try method.require(["PUT", "DELETE"])
    let subject = try AdminRequest.subject(parts[1])
    guard method == .put else { return .unban(subject) }
    let body = try AdminRequestBody(body, members: ["until", "reason"])
    return .ban(subject, until: try body.text("until"), reason: try body.text("reason"))
  }

  /// `groups` and `groups/GROUP/members/SUB`.
  private static func onGroups(
    _ method: AdminMethod, _ parts: [String?], _ body: [UInt8]
  ) throws(AdminError) -> AccessOperation? {
    if parts.count == 1 {
      try method.require(["GET"])
      return .list(.groups)
    }
    guard parts.count == 4, parts[2] == "members" else { return nil }
    try method.require(["PUT", "DELETE"])
    guard let group = parts[1] else { throw .badGroup }
    let subject = try AdminRequest.subject(parts[3])
    guard method == .put else { return .removeMember(subject, group: group) }
    _ = try AdminRequestBody(body, members: [])
    return .addMember(subject, group: group)
  }

  /// `requests`, `requests/CODE/admit` and `requests/CODE/reject`.
  private static func onRequests(
    _ method: AdminMethod, _ parts: [String?], _ query: [UInt8], _ body: [UInt8]
  ) throws(AdminError) -> AccessOperation? {
    if parts.count == 1 {
      try method.require(["GET"])
      return try listingRequests(query)
    }
    guard parts.count == 3, parts[2] == "admit" || parts[2] == "reject" else { return nil }
    try method.require(["POST"])
    guard let request = parts[1] else { throw .badCode }
    if parts[2] == "admit" {
      return .admit(request, group: try AdminRequestBody(body, members: ["group"]).required("group"))
    }
    _ = try AdminRequestBody(body, members: [])
    return .reject(request)
  }

  /// `invitations` and `invitations/ID`.
  private static func onInvitations(
    _ method: AdminMethod, _ parts: [String?], _ body: [UInt8]
  ) throws(AdminError) -> AccessOperation? {
    if parts.count == 1 {
      try method.require(["GET", "POST"])
      return method == .get ? .list(.invitations) : .invite(try invitation(body))
    }
    guard parts.count == 2 else { return nil }
    try method.require(["DELETE"])
    return .revokeInvitation(parts[1] ?? "")
  }

  /// `tokens` and `tokens/NAME`.
  private static func onTokens(
    _ method: AdminMethod, _ parts: [String?], _ body: [UInt8]
  ) throws(AdminError) -> AccessOperation? {
    if parts.count == 1 {
      try method.require(["GET", "POST"])
      guard method == .post else { return .list(.tokens) }
      let body = try AdminRequestBody(body, members: ["name", "group", "expires"])
      return .createToken(
        name: try body.required("name"), group: try body.required("group"), expires: try body.text("expires"))
    }
    guard parts.count == 2 else { return nil }
    try method.require(["DELETE"])
    return .revokeToken(parts[1] ?? "")
  }

  /// The list of accounts that a query asks for.
  static func listing(_ fields: [String: String]) throws(AdminError) -> AccessOperation {
    var filter = AccountFilter(group: fields["group"], seenSince: fields["seen_since"])
    if let after = fields["after"] { filter.after = try AdminRequest.subject(after) }
    filter.limit = try limit(fields["limit"])
    return .list(.accounts(filter))
  }

  /// The list of requests that a query asks for.
  private static func listingRequests(_ query: [UInt8]) throws(AdminError) -> AccessOperation {
    let fields = try AdminRequest.fields(query, ["after", "limit"])
    var after: AccessRequestCode?
    if let text = fields["after"] {
      after = AccessRequestCode(text)
      guard after != nil else { throw .badCode }
    }
    return .list(.requests(after: after, limit: try limit(fields["limit"])))
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
