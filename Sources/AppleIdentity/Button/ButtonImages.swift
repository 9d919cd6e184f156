internal import FoundationEssentials
internal import HTTPTypes

/// A cache of Apple's button images, fetched when first needed.
///
/// - An image is fetched once for all requests that wait, and again in the background when it is a day old. If that
///   fails, the old one stays in use.
/// - A failure is followed by a pause without requests: for this image if Apple responded, for all images if not.
/// - There are as many images as there are locales and colours, and no more than a fixed number of bytes of them.
package actor ButtonImages {
  /// The appearance of the images.
  package nonisolated let settings: ButtonSettings
  private let origin: AppleOrigin
  private let transport: AppleTransport
  private let clock: AppleClock
  private let report: @Sendable (ButtonImageError) -> Void

  private var kept: [ButtonVariant: (image: ButtonImage, fetched: Date)] = [:]
  private var keptBytes = 0
  private var underWay: Set<ButtonVariant> = []
  private var failed: [ButtonVariant: Date] = [:]
  private var unreachable: Date?
  private var waiting: [ButtonVariant: [Int: CheckedContinuation<Void, Never>]] = [:]
  private var lastTicket = 0

  /// The age at which an image is fetched again, in seconds.
  private static let maximumAge: TimeInterval = 86_400
  /// The pause after a failure, in seconds.
  private static let pause: TimeInterval = 60
  /// The size limit of all images together, in bytes: some 300 of Apple's.
  private static let byteLimit = 8 << 20

  /// - Parameters:
  ///   - baseURL: the origin of Apple's content network.
  ///   - report: receives each failure; at most one a minute for each image.
  /// - Throws: the problem of `baseURL`, if it is not a valid origin.
  package init(
    settings: ButtonSettings, baseURL: String, transport: @escaping AppleTransport, clock: @escaping AppleClock,
    report: @escaping @Sendable (ButtonImageError) -> Void
  ) throws(AppleSettingsError) {
    guard let origin = AppleOrigin(baseURL) else { throw .baseURL }
    self.settings = settings
    self.origin = origin
    self.transport = transport
    self.clock = clock
    self.report = report
  }

  /// Returns the image of a variant, nil if it is not available in time.
  /// - Parameter timeout: the longest wait for a fetch.
  package func image(_ variant: ButtonVariant, within timeout: Duration) async -> ButtonImage? {
    if let image = kept[variant] {
      if age(of: image.fetched) >= Self.maximumAge, mayFetch(variant) { begin(variant) }
      return image.image
    }
    if !underWay.contains(variant) {
      guard mayFetch(variant) else { return nil }
      begin(variant)
    }
    await wait(for: variant, atMost: timeout)
    return kept[variant]?.image
  }

  private func mayFetch(_ variant: ButtonVariant) -> Bool {
    guard !underWay.contains(variant) else { return false }
    return [failed[variant], unreachable].allSatisfy { $0.map { age(of: $0) >= Self.pause } ?? true }
  }

  /// Never negative, so that a clock that was set back does not delay a fetch for days.
  private func age(of date: Date) -> TimeInterval {
    let age = clock().timeIntervalSince(date)
    return age < 0 ? .infinity : age
  }

  /// Fetches in its own task, so that a caller that is cancelled does not cancel it for the others.
  private func begin(_ variant: ButtonVariant) {
    underWay.insert(variant)
    Task { await self.fetch(variant) }
  }

  private func fetch(_ variant: ButtonVariant) async {
    do throws(ButtonImageError) {
      keep(try await download(variant), as: variant)
    } catch {
      if case .unreachable = error { unreachable = clock() } else { failed[variant] = clock() }
      report(error)
    }
    underWay.remove(variant)
    for waiter in (waiting.removeValue(forKey: variant) ?? [:]).values { waiter.resume() }
  }

  private func download(_ variant: ButtonVariant) async throws(ButtonImageError) -> ButtonImage {
    var request = origin.get(settings.imagePath(variant))
    request.head.headerFields[.accept] = "image/png"
    let response: AppleHTTPResponse
    do throws(AppleTransportError) {
      response = try await transport(request)
    } catch {
      throw .unreachable(error)
    }
    return try ButtonImage(response)
  }

  private func keep(_ image: ButtonImage, as variant: ButtonVariant) {
    let bytes = keptBytes - (kept[variant]?.image.png.count ?? 0) + image.png.count
    guard bytes <= Self.byteLimit else { return }
    keptBytes = bytes
    kept[variant] = (image, clock())
    failed[variant] = nil
    unreachable = nil
  }

  private func wait(for variant: ButtonVariant, atMost timeout: Duration) async {
    lastTicket &+= 1
    let ticket = lastTicket
    let timer = Task {
      try? await Task.sleep(for: timeout)
      self.giveUp(ticket, variant)
    }
    // There was no suspension in between, so the fetch under way cannot have ended yet.
    await withCheckedContinuation { waiting[variant, default: [:]][ticket] = $0 }
    timer.cancel()
  }

  private func giveUp(_ ticket: Int, _ variant: ButtonVariant) {
    waiting[variant]?.removeValue(forKey: ticket)?.resume()
  }
}
