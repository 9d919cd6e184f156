import DataPlane

/// The decision of a gate.
enum Decided: Sendable {
  case forward(identity: String, session: ConnectionKey?, upgrades: Bool)
  case answer(Int, location: String?)
  case handle
  case suspend(@Sendable () async -> Void)

  var status: Int? { if case .answer(let status, _) = self { status } else { nil } }
  /// The identity lines of a forwarded request; nil where it was not forwarded.
  var identity: String? { if case .forward(let identity, _, _) = self { identity } else { nil } }
  var isWaiting: Bool { if case .suspend = self { true } else { false } }
}

/// The fields that a forwarded request gets.
struct Forwarded: Sendable {
  let identity: String?
  let session: ConnectionKey?
  let dropsAuthorization: Bool
  let dropsMethodOverride: Bool
}
