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

  /// Whether it is met.
  /// - Parameter said: what the claim says, as text; empty where the token does not have it.
  func isMet(by said: [String]) -> Bool {
    values.contains { value in said.contains { $0.utf8.elementsEqual(value.utf8) } }
  }
}
