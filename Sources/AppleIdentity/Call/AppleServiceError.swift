/// The reason why Apple's response, or its absence, is not conclusive. Apple's fault, or the network's.
package enum AppleServiceError: Error, Sendable, Equatable {
  /// No answer, and the request may have arrived.
  case unanswered(reason: String)
  /// 429: too many requests, or more than one check of a user in a day; with the pause that Apple asks for, an hour at
  /// most.
  case throttled(pause: Duration?)
  /// Another status than 200, 400, 401, 403 and 429, or an error object with a status that it does not belong to.
  case status(Int)
  /// The body is not what the documentation says.
  case malformed(reason: String)

  /// The problem and its remedy.
  package var message: String {
    switch self {
    case .unanswered(let reason): "Apple did not answer: \(reason)"
    case .throttled(let pause):
      "Apple answered 429: too many requests"
        + (pause.map { ", to be tried again in \($0.components.seconds) s" } ?? "")
    case .status(let status): "Apple answered \(status)"
    case .malformed(let reason): "Apple's answer cannot be understood: \(reason)"
    }
  }
}
