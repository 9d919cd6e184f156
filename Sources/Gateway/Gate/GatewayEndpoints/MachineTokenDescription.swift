internal import DataPlane
internal import FoundationEssentials
internal import Sessions

/// The JSON of a machine token, at `GET session`: what applies of a session's.
struct MachineTokenDescription: Encodable {
  private let subject: String
  private let groups: [String]
  private let sessionID: String
  private let began: Int64
  private let ends: Int64?

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case groups
    case sessionID = "session_id"
    case began, ends
  }

  init(_ token: MachineToken) {
    subject = token.subject.text
    groups = [token.group.text]
    sessionID = token.handle.text
    began = token.created.wallClock / 1_000
    ends = token.expires.map { $0.wallClock / 1_000 }
  }

  /// 200 with the JSON.
  static func response(_ token: MachineToken) -> ControlResponse { .json(of: MachineTokenDescription(token)) }
}
