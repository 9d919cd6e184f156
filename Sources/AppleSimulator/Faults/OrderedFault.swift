/// A fault that a test orders (`POST /simulator/faults`).
struct OrderedFault: Sendable, Codable {
  /// The endpoint that has the fault.
  var endpoint: Endpoint
  var kind: Kind
  /// Only token requests with this `grant_type`. Default: all.
  var grantType: String?
  /// The delay of `slow`, in milliseconds, at most ten minutes. Default: 3000.
  var milliseconds: Int?
  /// The HTTP status of `status`. Default: 500.
  var status: Int?
  /// The error code of `refuse`. Default: `invalid_request`.
  var error: String?
  /// The `error_description` of `refuse`, which Apple does not document and sometimes sends. Default: none.
  var errorDescription: String?
  /// The number of calls for which it applies. Default: until faults are cleared.
  var times: Int?

  enum Endpoint: String, Sendable, Codable {
    case authorize, token, revoke, keys, usermigrationinfo, button
  }

  enum Kind: String, Sendable, Codable {
    /// The answer comes late, but is right.
    case slow
    /// Any status, with a page of HTML.
    case status
    /// 200 and a page of HTML where JSON is due.
    case html
    /// 200 and JSON that never ends.
    case endlessJSON = "endless-json"
    /// 200 and a hundred thousand nested arrays.
    case deepJSON = "deep-json"
    /// 200 and half an object.
    case truncatedJSON = "truncated-json"
    /// 200 and nothing.
    case empty
    /// 200 and `{}`.
    case emptyObject = "empty-object"
    /// The connection closes in the middle of the body.
    case cut
    /// `{"keys":[]}`
    case emptyKeySet = "empty-key-set"
    /// 400 and an error object.
    case refuse
  }

  enum CodingKeys: String, CodingKey {
    case endpoint, kind, milliseconds, status, error, times
    case grantType = "grant_type"
    case errorDescription = "error_description"
  }
}

extension OrderedFault.Endpoint {
  /// The endpoint that a path belongs to.
  init?(path: String) {
    switch path {
    case "/auth/authorize": self = .authorize
    case "/auth/token": self = .token
    case "/auth/revoke": self = .revoke
    case "/auth/keys": self = .keys
    case "/auth/usermigrationinfo": self = .usermigrationinfo
    case "/appleid/button", "/appleid/button/left", "/appleid/button/logo": self = .button
    default: return nil
    }
  }
}

extension SimulatorState {
  /// The faults that apply to a request; decrements their counts.
  mutating func takeFaults(at endpoint: OrderedFault.Endpoint, grantType: String?) -> [OrderedFault] {
    var taken: [OrderedFault] = []
    faults = faults.compactMap { fault in
      guard fault.endpoint == endpoint, fault.grantType == nil || fault.grantType == grantType else { return fault }
      guard let times = fault.times else {
        taken.append(fault)
        return fault
      }
      guard times > 0 else { return nil }
      taken.append(fault)
      var rest = fault
      rest.times = times - 1
      return times > 1 ? rest : nil
    }
    return taken
  }
}

/// Wrong content of an otherwise ordinary answer, as a test orders it (`POST /simulator/tamper`).
struct OrderedTampering: Sendable, Codable {
  /// The place where the token is issued: to the browser, or by the token endpoint.
  var place: Place
  /// The differences of the identity token.
  var token: TokenOrder?
  /// Fields of the authorization answer to set, or with `null` to leave out: `state`, `code`, `user`, …
  var fields: [String: JSONValue]?
  /// The number of responses for which it applies. Default: 1.
  var times: Int?

  enum Place: String, Sendable, Codable {
    case authorize, token
  }
}

extension SimulatorState {
  /// The tampering that applies to a response; decrements its count.
  mutating func takeTampering(at place: OrderedTampering.Place) -> OrderedTampering? {
    guard let index = tampering.firstIndex(where: { $0.place == place }) else { return nil }
    let taken = tampering[index]
    let times = taken.times ?? 1
    if times > 1 {
      tampering[index].times = times - 1
    } else {
      tampering.remove(at: index)
    }
    return taken
  }
}
