/// What native apps may do beside browsers (`[native]` of the configuration).
public struct NativeSettings: Sendable, Equatable {
  /// Custom URL schemes, in lower case, that a sign-in in the browser may be handed back to. Default: none.
  public var returnSchemes: [String] = []
  /// Whether a session is also taken as `Authorization: Bearer`, and told to apps for that. Default: false.
  public var acceptsBearer = false

  public init() {}
}
