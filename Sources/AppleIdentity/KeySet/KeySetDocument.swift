internal import WebFormats

/// The JWK set that Apple publishes at `/auth/keys` (RFC 7517, 5).
enum KeySetDocument {
  /// The usable keys by their identifier. The first of two with the same identifier counts.
  /// - Throws: ``AppleKeySetError/unusable(_:)`` if there is none.
  static func keys(of body: [UInt8]) throws(AppleKeySetError) -> [String: AppleKey] {
    let document: [String: StrictJSON]
    do throws(StrictJSONError) {
      document = try StrictJSON.object(body, maximumBytes: 128 * 1024, maximumDepth: 8)
    } catch {
      throw .unusable(error.reason)
    }
    guard let members = document["keys"]?.elements else { throw .unusable("there is no list of keys") }
    var keys: [String: AppleKey] = [:]
    for member in members.prefix(maximumKeys) {
      guard let jwk = member.members, let key = AppleKey(jwk: jwk) else { continue }
      if keys[key.identifier] == nil { keys[key.identifier] = key }
    }
    guard !keys.isEmpty else { throw .unusable("not one of the keys can be used") }
    return keys
  }

  /// The largest number of keys that are read. Apple publishes three or so.
  static let maximumKeys = 64
}
