/// A request that the simulator saw, in full: it is a simulator, and tests need to see codes and secrets.
struct SeenRequest: Sendable, Encodable {
  let number: Int
  /// By the simulator's clock, in seconds since 1970.
  let time: Double
  let method: String
  let path: String
  let query: [String: String]
  /// Names in lower case; repeated ones joined with a comma.
  let headers: [String: String]
  /// The fields of a form, otherwise nothing.
  let form: [String: String]
  /// The body as text, at most 64 KiB of it.
  let body: String
  /// Nothing until it is answered.
  var status: Int?
  /// The reason for the refusal.
  var reason: String?
}

extension SimulatorState {
  /// The most requests that are remembered; the oldest go first.
  private static let mostRequests = 5_000

  /// Notes a request.
  ///
  /// - Returns: its number, for ``answered(_:status:reason:)``.
  mutating func note(_ make: (Int) -> SeenRequest) -> Int {
    let number = nextRequestNumber
    nextRequestNumber += 1
    if requests.count >= Self.mostRequests { requests.removeFirst(requests.count / 2) }
    requests.append(make(number))
    return number
  }

  /// Notes how a request was answered.
  mutating func answered(_ number: Int, status: Int, reason: String?) {
    guard let index = requests.lastIndex(where: { $0.number == number }) else { return }
    requests[index].status = status
    requests[index].reason = reason
  }
}
