import DataPlane
import WebFormats

/// Addresses of upstreams that are usually those of FastCGI servers, which do not speak HTTP.
enum FastCGIWarnings {
  /// The default port of PHP-FPM.
  private static let port: UInt16 = 9_000
  private static let names = ["fcgi", "fastcgi", "-fpm", "php-cgi"]

  /// The reason for the suspicion; nil without one.
  static func hint(of address: UpstreamAddress) -> String? {
    switch address {
    case .tcp(_, Self.port, tls: false): return "port \(Self.port) is the default port of PHP-FPM"
    case .tcp: return nil
    case .unix(let path):
      let file = path.utf8.map(\.asciiLowercased)
      let hint = names.first { name in
        file.indices.contains { file[$0...].starts(with: name.utf8) }
      }
      return hint.map { "the socket has \($0) in its path" }
    }
  }

  static let remedy =
    "if it is FastCGI, put a web server with fastcgi_pass between (examples/fastcgi-behind-nginx); run cordon doctor "
    + "to find out"
}
