internal import TLSTransport

/// Files of certificates that are trusted for upstreams, for Apple, or for clients.
package enum AuthorityFile {
  /// The longest accepted file, in bytes: 1 MiB; the same for certificate chains.
  package static let sizeLimit = TLSAuthorityFile.sizeLimit

  /// Whether PEM text has a certificate of an authority. Without one each certificate in it is trusted as itself only.
  /// Nil if it has no certificate at all, or a damaged one before.
  package static func holdsAuthority(_ pem: [UInt8]) -> Bool? { TLSAuthorityFile.holdsAuthority(pem) }
}
