package import Secrets

/// The kinds of ``Secret`` of Apple's protocol; never values.
package enum AppleSecretKind {
  /// Marks an authorization code.
  package enum AuthorizationCode {}
  /// Marks a client secret.
  package enum ClientSecret {}
  /// Marks an identity token that is not verified yet.
  package enum IdentityToken {}
  /// Marks the access token that authorizes a transfer.
  package enum TransferPermit {}
}

/// An authorization code: valid once, for five minutes.
package typealias AuthorizationCode = Secret<AppleSecretKind.AuthorizationCode>
/// A client secret: a JWT signed with the `.p8` key.
package typealias ClientSecret = Secret<AppleSecretKind.ClientSecret>
/// An identity token as received, not verified. ``IdentityTokenVerifier`` makes a
/// ``VerifiedIdentityToken`` from it.
package typealias UnverifiedIdentityToken = Secret<AppleSecretKind.IdentityToken>
