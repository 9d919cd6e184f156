internal import Sessions

extension Account {
  /// The text by which a user with two accounts tells them apart: the address, otherwise the name.
  var shownAddress: String? { claims.email ?? name?.text }
}
