/// Settings for the revalidation of refresh tokens (`[revalidation]` of the configuration).
package struct RevalidationSettings: Sendable, Equatable {
  /// Between two checks of one account. Default: 24 h, and never less against Apple itself.
  package var interval: Duration = .seconds(86_400)
  /// The time for which sessions continue after the first failed attempt without a success. Default: 48 h.
  package var grace: Duration = .seconds(48 * 3_600)

  /// The defaults.
  package init() {}
}
