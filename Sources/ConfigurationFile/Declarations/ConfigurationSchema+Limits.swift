import DataPlane
import Sessions

/// The table about limits of each client.
extension ConfigurationSchema {
  static let clientLimits = Section<ConfigurationBuilder>(
    name: "limits.clients",
    introduction: """
      Limits of each client address (IPv6: of each /64 network). The address is that of the client behind \
      listen.trusted_proxies and the PROXY protocol; trusted proxies themselves and Unix sockets have no limit.
      """,
    entries: [
      .withDefault(
        "limits.clients.sign_ins", .rate, into: \.configuration.signInRate,
        """
        Rate of started sign-ins, native sign-ins, requests for access and opened invitations, counted together: a \
        number and s, m or h, as in "60/m". So many are possible at once. Beyond it: 429 with Retry-After. Callbacks \
        and verify are not limited. What pages of other sites start (Sec-Fetch-Site) has a rate of its own. "off" \
        disables the limit.
        """, seeAlso: ["listen.trusted_proxies"]),
      .withDefault(
        "limits.clients.connections", .integer(0...1_000_000),
        into: \.configuration.listener.limits.connectionsPerClient,
        """
        Maximum number of connections, including idle ones. Further ones are closed without a response. Connections \
        that were accepted while it was 0 are not counted. 0 disables the limit.
        """, unit: "connections", seeAlso: ["listen.limits.connections"]),
    ])
}
