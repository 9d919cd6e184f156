/// The label values that the program counts. Each series is exposed as 0 from the start: `increase()` of a series that
/// appears with its first event is 0, so the first refused sign-in would cause no alert. `KnownLabelTests` compares
/// these lists with the source.
enum KnownLabels {
  static let signInAttempts = ["web", "native"]

  /// The outcomes of sign-ins.
  static let signIns = [
    "success", "cancelled",
    // Apple refuses our request.
    "apple_refused", "client_secret", "invalid_client", "invalid_request", "invalid_scope",
    "unauthorized_client", "unsupported_grant_type",
    // Apple is unreachable, or its response is invalid.
    "apple_keys", "apple_trouble", "apple_unreachable", "code_refused", "identity_token", "subject", "tokens_disagree",
    // Internal errors.
    "seal", "store",
    // The authorization response and its sign-in state.
    "answer", "attempt_expired", "attempt_forged", "attempt_missing", "attempt_used", "content_type", "form", "query",
    "state_mismatch", "state_missing",
    // The arrival of a session on another host.
    "arrival_ended", "arrival_expired", "arrival_forged", "arrival_host", "arrival_used", "arrival_visit",
    // Apps.
    "cross_site", "exchange_request", "hand_back_ended", "hand_back_expired", "hand_back_forged", "hand_back_used",
    "hand_back_verifier", "native_request", "code_used",
    // Banned by an operator.
    "banned",
  ]

  static let clientLimitRefusals = ["sign_in", "native", "access_request", "invitation"]

  static let sessionsEnded = [
    "signed_out", "replaced", "revoked", "consent_revoked", "account_removed", "by_operator",
    // Refused, not ended in the store.
    "grace_over",
  ]

  static let checks = ["good", "revoked", "misconfigured", "unavailable", "not_sent", "no_key", "damaged"]

  /// Endpoint and outcome of calls to Apple, with the status codes of failing servers.
  static let appleCalls: [[String]] = ["token", "keys", "revoke", "usermigrationinfo"].flatMap { endpoint in
    ["ok", "not_sent", "unanswered", "400", "429", "500", "502", "503", "504"].map { [endpoint, $0] }
  }

  /// Type and outcome of Apple's notifications.
  static let notifications: [[String]] =
    ["email-enabled", "email-disabled", "consent-revoked", "account-deleted", "other"].flatMap { type in
      ["carried_out", "repeated", "outdated", "unknown_user", "store_unavailable"].map { [type, $0] }
    } + ["refused", "keys_unavailable", "clock_behind"].map { ["unverified", $0] }

  static let relays = ["delivered", "failed", "given_up"]

  static let storeOperations = [
    "account", "account_removal", "accounts", "administration", "ban", "changes", "check", "complete", "end", "find",
    "invitation", "keep_name", "notification", "open", "people", "ping", "relay", "remove_expired", "request_access",
    "sessions",
    "token", "touch", "use_up",
  ]

  /// Status codes of failed requests.
  static let statuses = [502, 503, 504]
}
