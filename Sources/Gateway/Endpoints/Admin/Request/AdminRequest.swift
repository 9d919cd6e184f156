internal import AppleIdentity
internal import Sessions
internal import WebFormats

/// A request to the admin API, from method and target.
enum AdminRequest: Equatable {
  case operation(AdminOperation)
  /// Lists or changes access.
  case access(AccessOperation)

  /// Whether a path is one of these.
  static func owns(_ path: String) -> Bool {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.count > 1 && parts[0].isEmpty
      && (["accounts", "sessions", "reload"] + AccessOperation.folders).contains { parts[1].elementsEqual($0.utf8) }
  }

  /// - Parameter target: path and query.
  init(method: String, target: String, body: [UInt8] = []) throws(AdminError) {
    let bytes = Array(target.utf8)
    let path = bytes.prefix { $0 != UInt8(ascii: "?") }
    let query = bytes.dropFirst(path.count + 1)
    let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
      .map { PercentEncoding.decode($0).flatMap { String(validating: $0, as: UTF8.self) } }
    let method = AdminMethod(method)
    switch (parts.first, parts.count) {
    case ("accounts", 1):
      try method.require(["GET"])
      self = try Self.finding(Array(query))
    case ("accounts", 2) where parts[1] == "migrate":
      try method.require(["POST"])
      self = .operation(.migrate(try Self.migration(Array(query))))
    case ("accounts", 3) where parts[2] == "sessions":
      let subject = try Self.subject(parts[1])
      try method.require(["GET", "DELETE"])
      self = .operation(method == .get ? try Self.sessions(of: subject, Array(query)) : .endSessions(of: subject))
    case ("accounts", 3) where parts[2] == "disconnect":
      try method.require(["POST"])
      let isForced = try Self.isOn("force", in: try Self.fields(Array(query), ["force"]))
      self = .operation(.disconnect(try Self.subject(parts[1]), evenUnrevoked: isForced))
    case ("sessions", 2):
      try method.require(["DELETE"])
      guard let handle = parts[1].flatMap({ PublicSessionID(text: $0) }) else { throw .noHandle }
      self = .operation(.endSession(handle))
    case ("reload", 1):
      try method.require(["POST"])
      self = .operation(.reload)
    default:
      guard
        let operation = try AccessOperation(
          method: method, parts: Array(parts), query: Array(query), body: body)
      else { throw .unknown }
      self = .access(operation)
    }
  }

  private static func finding(_ query: [UInt8]) throws(AdminError) -> AdminRequest {
    let fields = try fields(query, ["subject", "email", "group", "seen_since", "after", "limit"])
    switch (fields["subject"], fields["email"]) {
    case (nil, nil): return .access(try AccessOperation.listing(fields))
    case _ where fields.count > 1: throw .badAccountQuery
    case (let text?, nil): return .operation(.findSubject(try subject(text)))
    case (nil, let email?) where !email.isEmpty: return .operation(.findEmail(email))
    default: throw .badAccountQuery
    }
  }

  private static func sessions(
    of subject: Subject, _ query: [UInt8]
  ) throws(AdminError) -> AdminOperation {
    let fields = try fields(query, ["after", "limit"])
    var place = SessionPlace.start
    if let after = fields["after"] {
      guard let found = SessionPlace(text: after) else { throw .badSessionPlace }
      place = found
    }
    let limit = try AccessOperation.limit(fields["limit"], default: AccessOperation.largestLimit)
    return .sessions(of: subject, after: place, limit: limit)
  }

  private static func migration(_ query: [UInt8]) throws(AdminError) -> MigrationPageRequest {
    let fields = try fields(query, ["to", "after", "dry_run"])
    var request = MigrationPageRequest(stage: fields["to"].map { .prepare(team: $0) } ?? .complete)
    if let after = fields["after"], !request.begin(at: after) { throw .noSubject }
    request.isDry = try isOn("dry_run", in: fields)
    return request
  }

  private static func isOn(_ name: String, in fields: [String: String]) throws(AdminError) -> Bool {
    guard let value = fields[name] else { return false }
    guard value == "true" else { throw .badSwitch(name) }
    return true
  }

  /// The subject in a part of a path, or in a field.
  static func subject(_ text: String?) throws(AdminError) -> Subject {
    guard let subject = text.flatMap({ Subject($0) }) else { throw .noSubject }
    return subject
  }

  /// The fields of a query, of which there may be only these, each once.
  static func fields(
    _ query: [UInt8], _ names: [String]
  ) throws(AdminError) -> [String: String] {
    guard let form = try? FormFields(parsing: query) else { throw .badQuery(names) }
    var result: [String: String] = [:]
    for field in form.fields {
      guard let name = String(validating: field.name, as: UTF8.self), names.contains(name), result[name] == nil,
        let value = String(validating: field.value, as: UTF8.self)
      else { throw .badQuery(names) }
      result[name] = value
    }
    return result
  }
}
