import DataPlane
import Sessions

/// A header for the application, or the user of Basic credentials, and the place of its value.
struct HeaderPlace {
  var path: NodePath
  /// The header's name; `user` for that of Basic credentials.
  var name: String
  var value: IdentityHeaderSettings.Value

  /// The names of the claims in its value.
  var claims: [String] {
    switch value {
    case .claim(let claim): [claim]
    case .template(let template): template.claims
    }
  }

  /// Those of `[identity.headers]` and of each upstream.
  static func all(of configuration: Configuration) -> [HeaderPlace] {
    let identity = NodePath(ConfigurationSchema.identityHeaders.name)
    var places = configuration.identityHeaders.headers.map {
      HeaderPlace(path: identity.appending($0.name), name: $0.name, value: $0.value)
    }
    // A valid configuration has every upstream of the document, in its order.
    for (settings, path) in ForwardingChecks.paths(of: configuration, Array(configuration.upstreams.indices)) {
      let own = configuration.identityHeaders.upstreams.first { UpstreamChecks.isSame($0.upstream, settings.name) }
      for header in own?.headers ?? [] {
        let place = path.appending("headers").appending(header.name)
        places.append(HeaderPlace(path: place, name: header.name, value: .template(header.value)))
      }
      if let basic = own?.basic {
        let place = path.appending("basic").appending("user")
        places.append(HeaderPlace(path: place, name: "user", value: .template(basic.user)))
      }
    }
    return places
  }
}
