internal import FoundationEssentials

/// The keys of a gateway: the first signs, all are published, so that assertions from before a key rotation, or from a
/// replica that has not reloaded yet, can be verified.
package struct AssertionKeySet: Sendable {
  let signing: AssertionKey
  /// The JWK set (RFC 7517, 5), as `GET keys` answers it.
  package let publicDocument: [UInt8]

  /// Nil without a key. Duplicates are published once.
  package init?(_ keys: [AssertionKey]) {
    guard let first = keys.first else { return nil }
    signing = first
    var published: [PublicJWK] = []
    for key in keys where !published.contains(where: { $0.identifier == key.identifier }) {
      published.append(key.publicKey)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding plain values into memory does not fail; if it did, no assertion would verify, and no user would be
    // trusted.
    publicDocument = (try? encoder.encode(["keys": published])).map { Array($0) } ?? Array("{\"keys\":[]}".utf8)
  }
}
