/// The paths of invitations, whose last segment is a secret code.
enum InvitationPath {
  /// The path that a code follows, with its trailing slash.
  /// - Parameter prefix: `path_prefix`.
  static func folder(below prefix: String) -> [UInt8] { Array("\(prefix)/invite/".utf8) }
}
