internal import DataPlane
internal import HTTPTypes

/// Answers the requests to an endpoint with one method.
typealias EndpointHandler = @Sendable (ControlRequest) async -> ControlResponse

extension EndpointAction {
  /// An endpoint that has these methods; others are answered 405.
  /// - Parameters:
  ///   - pages: for that answer.
  ///   - servesHead: whether HEAD is answered like GET; not if GET has an effect.
  init(
    _ methods: [HTTPRequest.Method: EndpointHandler], pages: EndpointPages, servesHead: Bool = true,
    bodyLimit: Int = 0
  ) {
    var handlers = methods
    if servesHead, let get = handlers[.get] { handlers[.head] = get }
    self.init(bodyLimit: bodyLimit, label: .own) { [handlers] request in
      guard let handle = handlers[request.head.method] else {
        let allowed = handlers.keys.map(\.rawValue).sorted().joined(separator: ", ")
        return pages.methodNotAllowed(request, allow: allowed)
      }
      return await handle(request)
    }
  }
}
