internal import WebFormats

/// The origin that browsers see (`public_url` of the configuration): a scheme, a host and a port, nothing else.
package struct PublicOrigin: Sendable, Equatable, CustomStringConvertible {
  /// `http` for loopback hosts only.
  package let scheme: Scheme
  /// In lower case, an IPv6 address with its brackets.
  package let host: String
  /// Also where it is the scheme's own.
  package let port: UInt16
  /// Whether only browsers on the same machine can reach it. Plain http is accepted there alone.
  package let isLoopback: Bool

  /// The value of `Host` and the part after `://`: the host, and the port unless it is the scheme's own.
  package var authority: String { port == scheme.defaultPort ? host : "\(host):\(port)" }

  /// As browsers write it in `Origin`, without a trailing slash.
  package var description: String { "\(scheme.rawValue)://\(authority)" }

  /// The schemes that browsers can sign in with.
  package enum Scheme: String, Sendable, CaseIterable {
    /// As they stand before `://`.
    case http, https

    /// The port that an origin of the scheme has without naming one.
    package var defaultPort: UInt16 { self == .http ? 80 : 443 }
  }

  /// Parses an origin, such as `https://app.example.com` or `http://localhost:8080`. One trailing slash is allowed.
  package init(parsing text: String) throws(PublicOriginError) {
    var bytes = Array(text.utf8)
    let folded = bytes.map(\.asciiLowercased)
    guard let scheme = Scheme.allCases.first(where: { folded.starts(with: "\($0.rawValue)://".utf8) }) else {
      throw .scheme
    }
    bytes.removeFirst(scheme.rawValue.utf8.count + 3)
    if bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    if bytes.contains(UInt8(ascii: "@")) { throw .userInformation }
    if bytes.contains(where: { "/?#\\".utf8.contains($0) }) { throw .path }
    guard let authority = Authority(parsing: bytes) else { throw .authority }
    isLoopback = Host.isLoopback(authority.host)
    guard scheme == .https || isLoopback else { throw .plainHTTP }
    self.scheme = scheme
    host = String(decoding: authority.host, as: UTF8.self)
    port = authority.port ?? scheme.defaultPort
  }
}

/// A problem with an origin.
package enum PublicOriginError: Error, Sendable, Equatable {
  /// It begins with neither `https://` nor `http://`.
  case scheme
  /// There is an `@`.
  case userInformation
  /// Something follows the host and the port, other than one slash.
  case path
  /// The host or the port is not valid.
  case authority
  /// The scheme is `http`, and the host is not loopback.
  case plainHTTP

  /// The problem, after the name of what is no origin.
  package var problem: String {
    switch self {
    case .scheme: "is not an origin"
    case .userInformation: "has user information in it"
    case .path: "has a path, a query or a fragment"
    case .authority: "has no valid host and port"
    case .plainHTTP: "is plain http"
    }
  }

  /// The correction, in the imperative.
  package var remedy: String {
    switch self {
    case .scheme: "write \"https://\" and the host that browsers see, as in \"https://app.example.com\""
    case .userInformation: "leave out everything up to the \"@\""
    case .path: "leave out everything after the host and the port"
    case .authority:
      "a host is letters, digits, \".\", \"-\" and \"_\" or a bracketed IPv6 address, a port 1 to 65535"
    case .plainHTTP:
      "write \"https://\" (Apple redirects to nothing else). http is for loopback only: \"http://localhost:8080\""
    }
  }
}
