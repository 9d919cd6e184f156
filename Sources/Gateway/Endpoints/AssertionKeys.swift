internal import DataPlane
internal import HTTPTypes
internal import IdentityAssertion

/// `GET keys`: the public keys by which the application verifies assertions. Without any, an empty set.
struct AssertionKeys: Sendable {
  private let document: [UInt8]

  init(_ signer: AssertionSigner?) { document = signer?.publicDocument ?? Array(#"{"keys":[]}"#.utf8) }

  /// The time that a verifier may cache the set, in seconds: less than a key is published before it signs.
  private static let maximumAge = 300

  @Sendable
  func answer(_ request: ControlRequest) async -> ControlResponse {
    ControlResponse(
      .ok,
      fields: [
        .contentType: "application/jwk-set+json", .cacheControl: "public, max-age=\(Self.maximumAge)",
        .xContentTypeOptions: "nosniff",
      ], body: document)
  }
}
