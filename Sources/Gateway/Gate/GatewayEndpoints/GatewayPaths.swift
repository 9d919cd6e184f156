internal import HTTPWire
internal import WebFormats

/// The paths of the gateway's own endpoints.
struct GatewayPaths: Sendable {
  /// `path_prefix`.
  let prefix: String
  /// The same, with a trailing slash.
  let folder: [UInt8]
  /// The whole path of the endpoint `verify`, which the gate answers on any authority.
  let verify: [UInt8]

  init(below prefix: String) {
    self.prefix = prefix
    folder = Array((prefix + "/").utf8)
    verify = Array(GatewayEndpoint.verify.path(below: prefix).utf8)
  }

  /// Whether a path is below the prefix.
  @inline(__always)
  func contains(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    let own = folder
    guard path.count >= own.count, bytes.byte(at: path.lowerBound + 1) == own[1] else { return false }
    for offset in own.indices where bytes.byte(at: path.lowerBound + offset) != own[offset] { return false }
    return true
  }
}
