internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Operations
internal import Threads

extension AppleButton {
  /// - Parameter previous: the present button, at a reload: its images are kept if they are the same.
  init(
    _ settings: GatewaySettings, metrics: MetricsRegistry, logger: Logger, reading files: SerialWorker,
    on eventLoop: any EventLoop, after previous: AppleButton?
  ) async throws {
    let button = settings.button
    let baseURL = button.imageOrigin(settings.apple)
    self.settings = button
    self.baseURL = baseURL
    prefix = settings.publicAddress.prefix
    apple = settings.apple
    proxy = settings.appleProxy
    // With a file of authorities they are fetched again: it may have other certificates than before.
    if let previous, previous.settings == button, previous.baseURL == baseURL, settings.apple.authorityFile == nil,
      previous.apple.isReached(as: settings.apple), previous.proxy == settings.appleProxy
    {
      images = previous.images
      imageTarget = previous.imageTarget
      return
    }
    guard let baseURL else {
      images = nil
      imageTarget = nil
      return
    }
    let server = try await files.run {
      Result { try AppleServer(baseURL, settings.apple, through: settings.appleProxy) }
    }.get()
    let connection = try await AppleHTTPTransport(
      server, bodyLimit: ButtonImage.maximumBytes, metrics: metrics, on: eventLoop)
    imageTarget = server.target
    images = try ButtonImages(
      settings: button, baseURL: baseURL,
      transport: { (request) async throws(AppleTransportError) in try await connection.send(request) },
      clock: { Date.now },
      report: { problem in
        logger.warning(
          "fetching Apple's button image failed, using a cached or drawn button",
          metadata: ["from": "\(baseURL)", "reason": "\(problem.message)"])
      })
  }
}
