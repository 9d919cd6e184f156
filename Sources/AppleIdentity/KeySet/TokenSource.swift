/// The source of a token. Tokens from anonymous clients must not use up the key fetches that sign-ins need.
package enum TokenSource: Sendable, Hashable {
  /// An unauthenticated sender: a notification, an app.
  case anonymous
  /// Apple itself over our own connection, or a browser whose sign-in state is verified.
  case verified
}
