internal import DataPlane
internal import HTTPTypes
internal import Operations

extension EndpointAction {
  /// An endpoint that has these methods; others are answered 405.
  /// - Parameters:
  ///   - pages: for that answer.
  ///   - servesHead: whether HEAD is answered like GET; not if GET has an effect.
  init(
    _ methods: [HTTPRequest.Method: @Sendable (ControlRequest) async -> ControlResponse], pages: EndpointPages,
    servesHead: Bool = true, bodyLimit: Int = 0
  ) {
    var methods = methods
    if servesHead, let get = methods[.get] { methods[.head] = get }
    let answers = methods
    self.init(bodyLimit: bodyLimit, routeClass: RouteLabel.own.rawValue) { request in
      guard let perform = answers[request.head.method] else {
        let allowed = answers.keys.map(\.rawValue).sorted().joined(separator: ", ")
        return pages.methodNotAllowed(request, allow: allowed)
      }
      return await perform(request)
    }
  }
}
