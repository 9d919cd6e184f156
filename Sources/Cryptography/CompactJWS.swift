internal import WebFormats

/// A JSON Web Signature in compact serialization (RFC 7515, 7.1), made by ES256.
package enum CompactJWS {
  /// The token of a payload, with `alg`, `kid` and `typ` in its header. Nil if the key does not sign.
  package static func sign(payload: some Sequence<UInt8>, using key: ES256PrivateKey, keyID: String) -> String? {
    var header = JSONWriter()
    header.object { header in
      header.string("alg", "ES256")
      header.string("kid", keyID)
      header.string("typ", "JWT")
    }
    let signed = Base64URL.text(header.bytes) + "." + Base64URL.text(payload)
    return key.signature(of: signed.utf8).map { signed + "." + Base64URL.text($0) }
  }
}
