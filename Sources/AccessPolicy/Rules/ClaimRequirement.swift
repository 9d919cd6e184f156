/// What one claim of the user's identity token has to say.
public struct ClaimRequirement: Sendable, Equatable {
  /// The claim's name, as Apple writes it.
  public let claim: String
  /// One of these, exactly; of a claim with several values (`scopes`) one of them is enough.
  public var values: [String]

  public init(claim: String, values: [String]) {
    self.claim = claim
    self.values = values
  }
}
