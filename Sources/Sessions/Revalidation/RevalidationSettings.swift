/// How often a user's refresh token is checked (`[revalidation]` of the configuration).
package struct RevalidationSettings: Sendable, Equatable {
  /// Between two checks of one account. Default: 24 h, and never less against Apple itself.
  package var interval: Duration = .seconds(86_400)
  /// How long sessions go on after the first failed attempt to check, without a good answer. Default: 48 h.
  package var grace: Duration = .seconds(48 * 3_600)

  /// The defaults.
  package init() {}
}
