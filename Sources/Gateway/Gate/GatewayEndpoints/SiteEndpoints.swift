internal import DataPlane
internal import Pages
internal import Sessions
internal import WebFormats

/// The endpoints of a site.
struct SiteEndpoints: Sendable {
  /// Those that the gate does not answer itself.
  var actions: [GatewayEndpoint: EndpointAction]
  /// Answers on routes with `access = "sign-out"`.
  var applicationSignOut: EndpointAction
  /// Keeps the entries of a form in the browser.
  var keepForm: @Sendable (KeepableForm) -> EndpointAction
  /// Looks up requests for access; nil if nobody may ask.
  var accessRequests: AccessRequestQuery?
  /// Answers `POST account/stop` without a valid session; nil if it is answered like any other page without one.
  var stopAgain: EndpointAction?

  /// Asks the store for the request of a user for access; nil if the store does not answer.
  typealias AccessRequestQuery = @Sendable (Subject) async -> AccessRequestState?
}
