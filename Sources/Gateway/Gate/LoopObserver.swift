internal import DataPlane
internal import NIOCore
internal import Operations
internal import Sessions

/// Counts and logs what happens on one event loop.
final class LoopObserver: ExchangeObserver {
  private let requests: RequestRecorder
  private let connections: ConnectionRecorder
  private let accessLog: AccessLogWriter?

  init(_ metrics: MetricsRegistry, accessLog: AccessLogWriter?) {
    requests = metrics.makeRequestRecorder()
    connections = metrics.makeConnectionRecorder()
    self.accessLog = accessLog
  }

  var wantsRequestLine: Bool { accessLog != nil }

  func exchangeBegan() { requests.requestStarted() }

  func exchangeEnded(_ record: borrowing ExchangeRecord) {
    let nanoseconds = UInt64(clamping: record.duration.nanoseconds)
    requests.requestFinished(
      route: Operations.RouteClass(rawValue: record.routeClass) ?? .refused, status: record.status,
      nanoseconds: nanoseconds, bytesIn: UInt64(clamping: record.receivedBytes),
      bytesOut: UInt64(clamping: record.sentBytes))
    if record.upstreamDuration > .zero {
      requests.upstreamAnswered(nanoseconds: UInt64(clamping: record.upstreamDuration.nanoseconds))
    }
    accessLog?.write(record)
  }

  func connectionsChanged(by difference: Int) {
    if difference > 0 { connections.clientAccepted() } else { connections.clientClosed() }
  }

  func upstreamConnectionsChanged(by difference: Int) {
    switch difference {
    case 1...: connections.upstreamConnected(nanoseconds: 0)
    case 0: connections.upstreamFailed(.refused)
    default: connections.upstreamDisconnected()
    }
  }
}

/// Writes access log lines of one event loop; the line's buffer is kept.
final class AccessLogWriter {
  private let output: LineOutput
  private let format: LineFormat
  private var line: [UInt8] = []

  init(_ settings: LogSettings, output: LineOutput = .standard) {
    self.output = output
    format = settings.format(for: output)
  }

  func write(_ record: borrowing ExchangeRecord) {
    let text = record.request.map { Array($0.readableBytesView) } ?? []
    let space = text.firstIndex(of: 0x20) ?? text.endIndex
    line.removeAll(keepingCapacity: true)
    AccessLogLine(
      time: .now(), requestID: Array((record.requestID ?? "").utf8), method: Array(text[..<space]),
      path: Array(text[min(space + 1, text.endIndex)...]), status: record.status,
      bytesIn: UInt64(clamping: record.receivedBytes), bytesOut: UInt64(clamping: record.sentBytes),
      durationNanoseconds: UInt64(clamping: record.duration.nanoseconds),
      upstreamNanoseconds: record.upstreamDuration > .zero
        ? UInt64(clamping: record.upstreamDuration.nanoseconds) : nil,
      route: (Operations.RouteClass(rawValue: record.routeClass) ?? .refused).label,
      user: nil, peer: record.client
    ).append(to: &line, as: format)
    output.write(line, atOnce: false)
  }
}
