/// The metrics of a gateway at one moment.
struct Metrics {
  let lines: [Substring]

  @SystemActor
  init(_ gateway: GatewayProcess) throws { try self.init(gateway.admin) }

  /// - Parameter admin: a client of the admin listener.
  init(_ admin: HTTPClient) throws { lines = try admin.get("/metrics").text.split(separator: "\n") }

  /// The value of a metric; its labels belong to the name.
  func value(_ name: String) -> Double? {
    lines.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.utf8.count + 1)) }
  }
}
