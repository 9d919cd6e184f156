/// The required value of one claim of the user's identity token.
package struct ClaimRequirement: Sendable, Equatable {
  /// The claim's name, as Apple writes it.
  package let claim: String
  /// One of these, exactly; of a claim with several values (`scopes`) one of them is enough.
  package var values: [String]

  /// A requirement that the claim has one of these values.
  package init(claim: String, values: [String]) {
    self.claim = claim
    self.values = values
  }
}
