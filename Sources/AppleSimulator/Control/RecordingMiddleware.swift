import HTTPTypes
import Hummingbird
import NIOCore

/// Records every request to the simulated Apple and applies the ordered faults. The control API is exempt.
struct RecordingMiddleware: RouterMiddleware {
  typealias Context = BasicRequestContext

  let apple: SimulatedApple

  /// The longest body that is read, in bytes; beyond it the answer is 413.
  private static let longestBody = 1_048_576

  func handle(
    _ input: Request, context: BasicRequestContext, next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    var request = input
    guard request.uri.path != "/simulator", !request.uri.path.hasPrefix("/simulator/") else {
      return try await next(request, context)
    }
    let body = Array(try await request.collectBody(upTo: Self.longestBody).readableBytesView)
    let form = SubmittedForm(body: body)
    let (number, faults) = apple.withState { state, now in
      let endpoint = OrderedFault.Endpoint(path: request.uri.path)
      return (
        state.note { Self.seen(request, body: body, form: form, number: $0, time: now) },
        endpoint.map { state.takeFaults(at: $0, grantType: form["grant_type"]) } ?? []
      )
    }
    let response = try await answer(request, context: context, faults: faults, next: next)
    let reason = HTTPField.Name(Response.reasonField).flatMap { response.headers[$0] }
    apple.withState { state, _ in state.answered(number, status: response.status.code, reason: reason) }
    return response
  }

  private func answer(
    _ request: Request, context: BasicRequestContext, faults: [OrderedFault],
    next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    for fault in faults {
      if let response = try await fault.response() { return response }
    }
    do {
      return try await next(request, context)
    } catch let error as any HTTPResponseError {
      return try error.response(from: request, context: context)
    }
  }

  private static func seen(
    _ request: Request, body: [UInt8], form: SubmittedForm, number: Int, time: Double
  ) -> SeenRequest {
    let isForm = request.headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") ?? false
    let headers = Dictionary(request.headers.map { ($0.name.canonicalName, $0.value) }) { "\($0), \($1)" }
    return SeenRequest(
      number: number, time: time, method: request.method.rawValue, path: request.uri.path,
      query: dictionary(SubmittedForm(query: request.uri.query)), headers: headers,
      form: isForm ? dictionary(form) : [:], body: String(decoding: body.prefix(65_536), as: UTF8.self))
  }

  private static func dictionary(_ form: SubmittedForm) -> [String: String] {
    Dictionary(form.fields.map { ($0.name, $0.value) }) { first, _ in first }
  }
}
