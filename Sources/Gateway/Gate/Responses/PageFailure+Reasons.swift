internal import AccessPolicy
internal import DataPlane
internal import Pages

extension PageFailure {
  /// The page of a denial.
  init(_ denial: DenialReason) {
    self =
      switch denial {
      case .notListed, .denyListed, .emailShown, .claimNotMet: .forbidden
      case .emailNotVerified: .emailNotVerified
      case .emailHidden: .emailHidden
      case .emailMissing: .emailMissing
      }
  }

  /// The page for a request that was forwarded, and may not continue.
  /// - Parameter form: how far the body of a form had come; nil for other requests.
  init(_ ending: ExchangeEnding, form: ClientPreferences.BodyProgress? = nil) {
    self =
      switch ending {
      case .signInRequired:
        switch form {
        case .partial: .formIncomplete
        case .whole: .formUnanswered
        case nil: .signInRequired
        }
      case .forbidden: .forbidden
      case .closed: .closed
      case .outsideNetworks: .network
      case .unverifiable: .storeUnavailable
      }
  }

  /// Whether the data plane asks for this page by its status code alone.
  var isOfProtocol: Bool {
    switch self {
    case .closed, .badRequest, .notFound, .methodNotAllowed, .requestTimeout, .lengthRequired,
      .contentTooLarge, .targetTooLong, .unsupportedMediaType, .expectationFailed, .misdirected, .tooManyRequests,
      .headTooLarge, .internalError, .notImplemented, .badGateway, .unavailable, .gatewayTimeout, .versionNotSupported:
      true
    default: false
    }
  }
}
