/// The reason that an operation of the admin API is not carried out, as it is answered.
struct AdminError: Error, Equatable {
  let status: Int
  /// A short constant.
  let code: String
  /// The problem and the remedy.
  let message: String
  /// The methods that the path has, for the answer 405.
  var allowed: [String]?

  static let switchedOff = AdminError(
    status: 403, code: "administration_off",
    message: "administration over TCP requires a token, and none is configured: set admin.token_file (cordon keygen "
      + "--output FILE makes one), or let admin.address be a Unix socket")
  /// The same for a reload, which SIGHUP asks for without a token.
  static let reloadSwitchedOff = AdminError(
    status: switchedOff.status, code: switchedOff.code,
    message: "\(switchedOff.message); a reload can be asked for with SIGHUP")
  static let noToken = AdminError(
    status: 401, code: "token_required",
    message: "send the token of admin.token_file: Authorization: Bearer TOKEN")
  static let wrongToken = AdminError(
    status: 401, code: "token_required",
    message: "this is not the token that the gateway has read from admin.token_file; if the file was changed since, "
      + "have it read with SIGHUP")
  static let noAccount = AdminError(
    status: 404, code: "no_account",
    message: "no account has this subject; find one by address: GET /accounts?email=ADDRESS, or cordon accounts "
      + "find --email ADDRESS")
  static let noSession = AdminError(
    status: 404, code: "no_session",
    message: "there is no such session, or it has ended already: see cordon accounts sessions SUB")
  static let noSubject = AdminError(
    status: 400, code: "bad_subject", message: "a subject is 1 to 255 visible ASCII characters, as in 001234.0abc.0987")
  static let noHandle = AdminError(
    status: 400, code: "bad_handle",
    message: "this is not a session ID: copy one of 22 characters from GET /accounts/SUB/sessions, or from cordon "
      + "accounts sessions")
  static let badAccountQuery = AdminError(
    status: 400, code: "bad_query",
    message: "ask with ?subject=SUB or with ?email=ADDRESS, one of them, or list accounts with any of ?group=, "
      + "seen_since=, after= and limit=")
  /// - Parameter names: the fields that the query may have.
  static func badQuery(_ names: [String]) -> AdminError {
    AdminError(
      status: 400, code: "bad_query",
      message: "the query may have \(names.joined(separator: ", ")), each once and in UTF-8, and nothing else")
  }

  /// - Parameter name: the field that is neither left out nor `true`.
  static func badSwitch(_ name: String) -> AdminError {
    AdminError(status: 400, code: "bad_query", message: "write \(name)=true, or leave \(name) out")
  }

  static let badLimit = AdminError(
    status: 400, code: "bad_query", message: "limit is a number from 1 to \(AccessOperation.largestLimit)")
  static let badSessionPlace = AdminError(
    status: 400, code: "bad_query", message: "after is the `next` of the page before")
  static let sameTeam = AdminError(
    status: 400, code: "same_team",
    message: "this is apple.team_id, the team that the application leaves: name the one that it is transferred to")
  static let unknown = AdminError(
    status: 404, code: "not_found",
    message: "there are GET /accounts, GET and DELETE /accounts/SUB/sessions, PUT and DELETE /accounts/SUB/ban, POST "
      + "/accounts/SUB/disconnect, POST /accounts/migrate, DELETE /sessions/ID, GET /groups, PUT and DELETE "
      + "/groups/GROUP/members/SUB, GET /requests, POST /requests/CODE/admit and /requests/CODE/reject, GET and POST "
      + "/invitations, DELETE /invitations/ID, GET and POST /tokens, DELETE /tokens/NAME and POST /reload")

  static func badBody(_ problem: String) -> AdminError {
    AdminError(status: 400, code: "bad_body", message: problem)
  }

  static func wrongMethod(_ methods: [String]) -> AdminError {
    AdminError(
      status: 405, code: "method_not_allowed", message: "use \(methods.joined(separator: " or ")) here",
      allowed: methods.contains("GET") ? methods + ["HEAD"] : methods)
  }

  static func store(_ reason: String) -> AdminError {
    AdminError(status: 503, code: "store_unavailable", message: reason)
  }
}

/// The body of the answer to a refused operation.
struct RefusalReport: Codable {
  let error: String
  let message: String
}
