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
