internal import DataPlane
internal import HTTPTypes
internal import WebFormats

/// The endpoints of one `[[host]]`. Signing in with Apple and the pages about accounts are on `public_url` only.
struct HostEndpointTable: Sendable {
  let pages: EndpointPages
  /// Nil for no limit.
  let signInLimit: SignInLimit?
  let visit: VisitEndpoint
  let arrival: ArrivalEndpoint
  let session: SessionEndpoint
  let signOut: SignOutEndpoint
  let button: ButtonEndpoint
  let accessRequest: AccessRequestEndpoint
  let keptForm: KeptFormEndpoint

  /// The endpoints for the gate.
  var endpoints: SiteEndpoints {
    SiteEndpoints(
      actions: [
        .signIn: EndpointAction([.get: visit.signIn], pages: pages),
        // HEAD must not use a code.
        .arrive: EndpointAction([.get: arrival.arrive], pages: pages, servesHead: false),
        .session: session.action,
        .signOut: signOut.action,
        .button: button.action,
        .requestAccess: accessRequest.action(within: signInLimit),
        .form: keptForm.action,
      ], applicationSignOut: signOut.applicationAction, keepForm: keptForm.keeping,
      accessRequests: accessRequest.lookUps)
  }
}
