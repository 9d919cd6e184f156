import FoundationEssentials
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOPosix

/// Posts notifications as Apple does, with a limited number of retries unless the answer is 200 in time.
struct NotificationSender: Sendable {
  let apple: SimulatedApple

  /// The timeout for a server, in seconds.
  private static let timeout = 10

  /// Posts in the background. The result is in the state's deliveries.
  func send(_ delivery: NotificationDelivery) {
    Task {
      let switches = apple.withState { state, _ in state.switches }
      for attempt in 0...max(0, switches.notificationRetries) {
        if attempt > 0 {
          // Twice the time before each further attempt, as Apple waits longer and longer.
          let pause = switches.notificationRetryDelay * Double(1 << min(attempt - 1, 16))
          try? await Task.sleep(for: .seconds(min(pause, 3_600)))
        }
        let status = await Self.post(delivery.payload, to: delivery.url)
        apple.withState { state, now in state.attempted(delivery.number, status: status, at: now) }
        if status == 200 { return }
      }
    }
  }

  /// - Returns: the status, or nothing without an answer.
  private static func post(_ payload: String, to address: String) async -> Int? {
    await withTaskGroup(of: Int?.self) { group in
      group.addTask { try? await exchange(payload, address) }
      group.addTask {
        try? await Task.sleep(for: .seconds(timeout))
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  private static func exchange(_ payload: String, _ address: String) async throws -> Int? {
    let target = try Target(address)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: target.host, port: target.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
            wrappingChannelSynchronously: channel)
        }
      }
    let body = ByteBuffer(string: "{\"payload\":\"\(payload)\"}")
    let fields: HTTPHeaders = [
      "Host": target.authority, "Content-Type": "application/json", "Content-Length": "\(body.readableBytes)",
      "Connection": "close",
    ]
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(
        .head(HTTPRequestHead(version: .http1_1, method: .POST, uri: target.path, headers: fields)))
      try await outbound.write(.body(.byteBuffer(body)))
      try await outbound.write(.end(nil))
      for try await part in inbound {
        if case .head(let head) = part { return Int(head.status.code) }
      }
      return nil
    }
  }

  /// The address for notifications: http only, because it is on the developer's machine.
  struct Target {
    let host: String
    let port: Int
    let authority: String
    let path: String

    init(_ address: String) throws {
      guard let url = URL(string: address), url.scheme == "http", let host = url.host() else {
        throw ControlError(message: "a notification goes to an address as in http://localhost:8080/.auth/notifications")
      }
      self.host = host
      port = url.port ?? 80
      authority = url.port.map { "\(host):\($0)" } ?? host
      let path = url.path(percentEncoded: true)
      self.path = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }
  }
}
