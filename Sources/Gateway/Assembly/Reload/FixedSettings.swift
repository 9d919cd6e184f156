internal import DataPlane
internal import Operations
internal import Sessions

/// Settings that a running gateway cannot change, because they are bound, opened or started with the process. A
/// configuration that changes any of them is refused as a whole, and never applied in part.
enum FixedSettings {
  /// A key that a reload cannot change.
  struct Key: Sendable {
    /// As problems name it; of a repeatable table the table.
    let name: String
    /// Describes the change between two configurations; nil if they are equal.
    let change: @Sendable (_ current: GatewaySettings, _ next: GatewaySettings) -> String?

    init(_ name: String, change: @escaping @Sendable (GatewaySettings, GatewaySettings) -> String?) {
      self.name = name
      self.change = change
    }

    /// A key whose values may be shown: they are no secrets.
    init(_ name: String, value: @escaping @Sendable (GatewaySettings) -> String) {
      self.init(name, change: { value($0) == value($1) ? nil : "from \(value($0)) to \(value($1))" })
    }
  }

  /// All of them, in the order in which they are reported. Documentation/OPERATING.md lists the same ones.
  static let keys = [
    Key("listen.address", value: { $0.listener.main.address.description }),
    Key("listener", value: { FixedSettings.described($0.listener.others) }),
    Key("admin.address", value: { $0.adminAddress.description }),
    Key("listen.workers", value: { String($0.workers) }),
    Key("store.connections", value: { String($0.store.connections) }),
    Key("store.notify", value: { String($0.store.notifies) }),
    Key("session.cookie_name", value: { $0.session.cookies.session }),
    Key("store.url", change: { $0.store.location == $1.store.location ? nil : "to another store" }),
    Key(
      "listen.tls_certificate_file",
      change: { current, next in
        guard (current.listener.main.tls == nil) != (next.listener.main.tls == nil) else { return nil }
        return next.listener.main.tls == nil ? "from TLS to cleartext" : "to TLS"
      }),
    Key(
      "admin.token_file",
      change: { current, next in
        // The mode of the socket was set at its creation: without a token it would admit everybody that the umask
        // admits.
        guard case .unix = next.adminAddress, (current.admin.tokenFile == nil) != (next.admin.tokenFile == nil) else {
          return nil
        }
        return "on a Unix socket, whose permission was set at the start"
      }),
  ]

  /// The reasons that `next` cannot replace `current` while the gateway runs: one line for each key, with the remedy.
  static func problems(from current: GatewaySettings, to next: GatewaySettings) -> [String] {
    keys.compactMap { key in
      key.change(current, next).map { change in
        "\(key.name) cannot change while the gateway runs (\(change)); restart it, or put the old value back"
      }
    }
  }

  /// The fixed settings of the other listeners.
  private static func described(_ others: [AcceptorSettings]) -> String {
    others.isEmpty
      ? "none"
      : others.map { "\($0.name) \($0.address)\($0.tls == nil ? "" : " with TLS")" }.joined(separator: ", ")
  }
}
