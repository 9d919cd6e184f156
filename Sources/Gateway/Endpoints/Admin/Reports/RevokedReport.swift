/// `DELETE /invitations/ID` and `DELETE /tokens/NAME`.
package struct RevokedReport: Codable, Sendable, Equatable {
  /// The ID or the name.
  package let revoked: String
}
