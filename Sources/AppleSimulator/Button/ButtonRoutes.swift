import HTTPTypes
import Hummingbird

/// The button images that Apple serves from its content network.
struct ButtonRoutes: Sendable {
  func add(to router: Router<BasicRequestContext>) {
    for (path, kind) in [
      ("/appleid/button", ButtonRequest.Kind.centred), ("/appleid/button/left", .left),
      ("/appleid/button/logo", .logo),
    ] {
      router.get(RouterPath(path)) { request, _ in
        guard let button = ButtonRequest(kind: kind, query: SubmittedForm(query: request.uri.query)) else {
          return Response(status: .notFound)
        }
        return Response.bytes(button.image.file, type: "image/png")
      }
    }
  }
}
