internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Sessions

/// The headers that upstreams get in addition to the identity headers, by the number that `RouteDecision.upstream` has.
struct UpstreamIdentities: Sendable {
  /// Nil for an upstream without headers of its own; empty if no upstream has any.
  private let upstreams: [UpstreamIdentity?]
  /// Logs headers that cannot be sent.
  let omissions: HeaderOmissions

  /// - Parameter names: the upstreams in their order; nil for the one of `[upstream]`.
  init(_ settings: [UpstreamHeaderSettings], upstreams names: [String?], omissions: HeaderOmissions) {
    let all = names.map { name in
      let name = name ?? UpstreamSettings.defaultName
      return settings.first { $0.upstream.utf8.elementsEqual(name.utf8) && !$0.isEmpty }.map(UpstreamIdentity.init)
    }
    upstreams = all.contains { $0 != nil } ? all : []
    self.omissions = omissions
  }

  /// The number of upstreams with headers of their own.
  var count: Int { upstreams.count { $0 != nil } }

  /// Whether no upstream has headers of its own.
  @inline(__always)
  var isEmpty: Bool { upstreams.isEmpty }

  /// Nil for an upstream without headers of its own.
  @inline(__always)
  subscript(number: Int) -> UpstreamIdentity? { number < upstreams.count ? upstreams[number] : nil }
}

/// The headers of one upstream. A class, because each request of the upstream looks it up.
final class UpstreamIdentity: Sendable {
  let settings: UpstreamHeaderSettings
  /// For requests without a user.
  let anonymous: SerializedIdentityHeaders
  /// The names of its headers: they replace identity headers of the same name.
  private let names: ReservedNames

  init(_ settings: UpstreamHeaderSettings) {
    self.settings = settings
    anonymous = SerializedIdentityHeaders(settings.anonymous)
    names = ReservedNames(settings.names)
  }

  /// The identity headers that are not replaced, and the upstream's own.
  func fields(
    _ identity: [(name: String, value: [UInt8])], _ claims: ClaimSource, encoding: IdentityHeaderSettings.Encoding,
    _ omissions: HeaderOmissions
  ) -> [(name: String, value: [UInt8])] {
    identity.filter { !names.contains($0.name) }
      + settings.render(claims, encoding: encoding) { name, omission in
        omissions.note(name, of: settings.upstream, omission)
      }
  }
}
