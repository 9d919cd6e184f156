internal import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
  /// The length of a hash.
  package static let byteCount = 32

  /// The hash of some bytes: 32 bytes.
  package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    digest(bytes, Fetched.sha256, "SHA-256", byteCount: byteCount)
  }
}

/// SHA-1 (FIPS 180-4), for protocols that require it and do not depend on its strength.
package enum SHA1 {
  /// The length of a hash.
  package static let byteCount = 20

  /// The hash of some bytes: 20 bytes.
  package static func hash(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    digest(bytes, Fetched.sha1, "SHA-1", byteCount: byteCount)
  }
}

private func digest(
  _ bytes: some Sequence<UInt8>, _ algorithm: Fetched, _ name: StaticString, byteCount: Int
) -> [UInt8] {
  let input = Array(bytes)
  return [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
    LibCrypto.require(
      EVP_Digest(input, input.count, output.baseAddress, nil, algorithm.pointer, nil), name)
    count = byteCount
  }
}
