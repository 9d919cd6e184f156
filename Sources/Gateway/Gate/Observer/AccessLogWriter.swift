internal import DataPlane
internal import NIOCore
internal import Operations

/// Writes access log lines of one event loop; the buffers are kept.
final class AccessLogWriter {
  private let output = LogSink.standard
  private let format: LineFormat
  private let fields: [AccessLogField]
  /// Whether lines are in the Combined Log Format.
  private let isCombined: Bool
  /// The path whose rest is secret.
  private let hidden: [UInt8]
  /// The parts of a request that these fields need.
  let wantedFields: WantedFields
  private var line = LogBuffer()

  /// - Parameter hidden: the path below which nothing is logged.
  init(_ settings: LogSettings, hidden: [UInt8]) {
    self.hidden = hidden
    format = settings.format(for: .standard)
    isCombined = settings.format == .combined
    fields = isCombined ? AccessLogField.combined : settings.accessFields ?? AccessLogField.standard
    wantedFields = fields.reduce(into: .nothing) { wanted, field in
      switch field {
      case .host: wanted.insert(.host)
      case .userAgent: wanted.insert(.userAgent)
      case .referer: wanted.insert(.referer)
      case .trace: wanted.insert(.trace)
      case .upstreamAddress: wanted.insert(.upstreamAddress)
      default: break
      }
    }
  }

  func write(_ record: borrowing ExchangeRecord) {
    line.removeAll()
    let request = record.request ?? ByteBuffer()
    let label = record.label
    let entry = AccessLogLine(
      time: .now(), version: record.version.rawValue, status: record.status,
      bytesIn: UInt64(clamping: record.receivedBytes), bytesOut: UInt64(clamping: record.sentBytes),
      durationNanoseconds: UInt64(clamping: record.duration.nanoseconds),
      upstreamNanoseconds: record.upstreamDuration > .zero
        ? UInt64(clamping: record.upstreamDuration.nanoseconds) : nil,
      route: label.route.label, user: record.user, peer: record.client,
      failure: record.failure?.label ?? (label.isOfAmbiguousPath ? "ambiguous_path" : nil),
      upstreamAddress: record.upstreamAddress)
    if isCombined {
      entry.appendCombined(
        request: request.readableBytesSpan._unsafeView(as: UInt8.self), hidden: hidden, to: &line)
    } else {
      record.requestID.withText { requestID in
        entry.append(
          request: request.readableBytesSpan._unsafeView(as: UInt8.self), requestID: requestID, fields: fields,
          hidden: hidden, to: &line, as: format)
      }
    }
    output.write(line, atOnce: false)
  }
}
