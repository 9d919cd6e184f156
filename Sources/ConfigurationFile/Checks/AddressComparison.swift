import DataPlane
import WebFormats

extension BindAddress {
  /// Whether one of the two cannot be bound while the other one is.
  func overlaps(_ other: BindAddress) -> Bool {
    switch (self, other) {
    case (.unix(let path), .unix(let otherPath)): path == otherPath
    case (.ip(let host, let port), .ip(let otherHost, let otherPort)):
      port == otherPort && port != 0
        && (isSameHost(host, otherHost) || isEveryAddress(host) || isEveryAddress(otherHost))
    default: false
    }
  }
}

extension UpstreamAddress {
  /// Whether requests that are sent there come back to a listener with this address.
  func leads(to listener: BindAddress) -> Bool {
    switch (self, listener) {
    case (.unix(let path), .unix(let listenerPath)): path == listenerPath
    case (.tcp(let host, let port, _), .ip(let listenerHost, let listenerPort)):
      port == listenerPort && listenerPort != 0
        && (isSameHost(host, listenerHost) || isThisMachine(host) && isThisMachine(listenerHost))
    default: false
    }
  }

  /// The address in one spelling, by which it is compared with others: names in lower case, `localhost` for `127.0.0.1`
  /// and `::1` as well, and for `0.0.0.0` and `::`, by which the system connects to this machine. That a name leads to
  /// the address of another one is not known.
  var inOneSpelling: UpstreamAddress {
    guard case .tcp(let host, let port, let tls) = self else { return self }
    guard let address = IPAddress(host) else {
      let name = Host.isLoopback(host.utf8) ? Self.localName : Self.folded(host)
      return .tcp(host: name, port: port, tls: tls)
    }
    let isLocal = address == IPAddress("127.0.0.1") || address == IPAddress("::1") || address.isUnspecified
    return .tcp(host: isLocal ? Self.localName : address.description, port: port, tls: tls)
  }

  private static let localName = "localhost"

  private static func folded(_ name: String) -> String {
    String(decoding: name.utf8.map(\.asciiLowercased), as: UTF8.self)
  }
}

/// Whether two hosts are the same, also if an IPv6 address is spelled in two ways.
private func isSameHost(_ one: String, _ other: String) -> Bool {
  guard let one = IPAddress(one), let other = IPAddress(other) else { return one == other }
  return one == other
}

/// Whether a host stands for every address of this machine, as `0.0.0.0` does.
private func isEveryAddress(_ host: String) -> Bool { IPAddress(host)?.isUnspecified ?? false }

/// Whether a host is this machine: all of its addresses, or loopback.
private func isThisMachine(_ host: String) -> Bool { isEveryAddress(host) || Host.isLoopback(host.utf8) }
