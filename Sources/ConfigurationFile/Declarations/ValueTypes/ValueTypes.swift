import AccessPolicy
import DataPlane
import Sessions
import WebFormats

/// The types of particular keys.
extension ValueType where Value == String {
  /// Any text that is not empty and has no control characters.
  static func words(_ name: String, limit: Int = 255, expected: String, isConfidential: Bool = false) -> ValueType {
    text(
      name, expected: expected, isConfidential: isConfidential, write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        guard !text.isEmpty else { throw Diagnostic("is empty", remedy: "write \(expected), or remove the key") }
        guard text.utf8.count <= limit else {
          throw Diagnostic("is longer than \(limit) bytes", remedy: "write \(expected)")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }) else {
          throw Diagnostic("contains control characters", remedy: "remove them")
        }
        return text
      })
  }

  /// An origin of Apple's, or of a substitute. One trailing slash is dropped, as from `public_url`.
  static func appleOrigin(_ example: String) -> ValueType {
    let type = words("origin", expected: "an origin, as in \"\(example)\"")
    return ValueType(
      name: type.name,
      read: { node, path, context in
        guard let text = type.read(node, path, &context) else { return nil }
        return text.utf8.last == UInt8(ascii: "/") ? String(decoding: text.utf8.dropLast(), as: UTF8.self) : text
      }, write: type.write)
  }

  static var file: ValueType { path(of: "file") }

  static var folder: ValueType { path(of: "folder") }

  /// A path; an absolute one is the value.
  private static func path(of kind: String) -> ValueType {
    text(
      kind, expected: "the path of a \(kind) in quotation marks", write: { $0 },
      parse: { text, directory throws(Diagnostic) in
        try FilePath.parse(text, directory: directory)
      })
  }

  static var publicURL: ValueType {
    text(
      "origin", expected: "an origin, as in \"https://app.example.com\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        do throws(PublicOriginError) {
          return try PublicOrigin(parsing: text).description
        } catch {
          throw Diagnostic(error.problem, remedy: error.remedy)
        }
      })
  }

  static var host: ValueType {
    text(
      "host", expected: "a host, as in \"app.example.com\" or \"app.example.com:8443\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in try parseHost(text) })
  }

  /// The host of a route: a host, or `*` for every one.
  static var routeHost: ValueType {
    text(
      "host or \"*\"", expected: "a host, as in \"wiki.example.com\", or \"*\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        text.utf8.elementsEqual("*".utf8) ? text : try parseHost(text)
      })
  }

  private static func parseHost(_ text: String) throws(Diagnostic) -> String {
    // Any origin will do: only the host is checked here.
    let origin = try? PublicOrigin(parsing: "https://localhost")
    guard let origin, (try? AuthorityList(origin: origin, hosts: [text])) != nil else {
      throw Diagnostic(
        "is not a host",
        remedy: "write a host, with a port unless it is the default, as in \"app.example.com:8443\"")
    }
    return String(decoding: text.utf8.map(\.asciiLowercased), as: UTF8.self)
  }

  static var pathPrefix: ValueType {
    text(
      "path", expected: "a path, as in \"/.auth\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        try PathPrefixText.parse(text)
      })
  }

  /// The path of a health check.
  static var requestPath: ValueType {
    text(
      "path", expected: "a path, as in \"/health\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        guard text.utf8.first == UInt8(ascii: "/"), text.utf8.count <= 2_048,
          text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else {
          throw Diagnostic(
            "is not a path", remedy: "begin with \"/\", and percent-encode spaces and letters beyond ASCII")
        }
        return text
      })
  }

  /// A name chosen by the operator, also used as a metrics label.
  static var label: ValueType {
    text(
      "name", expected: "a name, as in \"reports\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        guard (1...64).contains(text.utf8.count),
          text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) })
        else {
          throw Diagnostic(
            "is not a name", remedy: "write at most 64 letters, digits, \"-\", \"_\" and \".\", as in \"reports\"")
        }
        return text
      })
  }

  /// The name of a group, also known to the store.
  static var groupName: ValueType {
    text(
      "name", expected: "the name of a group, as in \"staff\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        guard let name = GroupName(text) else {
          throw Diagnostic(
            "is not a group's name",
            remedy: "write 1 to 64 letters, digits, \"-\", \"_\" and \".\", as in \"staff\"")
        }
        return name.text
      })
  }

  /// A member of a group.
  static var member: ValueType {
    text(
      "member", expected: "a member, as in \"ada@example.com\"", isConfidential: true, write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        if let problem = GroupMember.problem(of: text) { throw Diagnostic(problem.message, remedy: problem.remedy) }
        return text
      })
  }

  static var method: ValueType {
    text(
      "method", expected: "a method, as in \"GET\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(\.isToken) else {
          throw Diagnostic("is not a method", remedy: "write letters as in \"GET\" (RFC 9110, 9.1), or remove methods")
        }
        return text
      })
  }

  /// The name that a certificate must list: a host name or an IP address.
  static var serverName: ValueType {
    text(
      "name", expected: "a host name, as in \"app.internal\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        // A dot in front would stand for every name that ends like this.
        guard (1...253).contains(text.utf8.count), text.utf8.first != UInt8(ascii: "."),
          text.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-_.:".utf8.contains($0) })
        else {
          throw Diagnostic(
            "is not a host name", remedy: "write a name or an IP address without port, as in \"app.internal\"")
        }
        return text
      })
  }

  static var claim: ValueType {
    text(
      "claim", expected: "a claim, as in \"email\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        try IdentityHeaderText.checkClaim(text)
        return text
      })
  }

  /// The name of a header that clients send.
  static var clientHeader: ValueType {
    text(
      "header", expected: "the name of a header, as in \"X-Debug\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        try IdentityHeaderText.checkClientName(text)
        return text
      })
  }

  static var scheme: ValueType {
    text(
      "scheme", expected: "a URL scheme, as in \"com.example.app\"", write: { $0 },
      parse: { text, _ throws(Diagnostic) in
        try SchemeText.parse(text)
      })
  }
}

extension ValueType where Value == ClaimRequirement {
  /// A claim and its required value.
  static var claimRequirement: ValueType {
    text(
      "claim=value", expected: "a claim and what it says, as in \"real_user_status=2\"",
      write: { "\($0.claim)=\($0.values.joined(separator: ","))" },
      parse: { text, _ throws(Diagnostic) in
        try ClaimRequirementText.parse(text)
      })
  }
}

extension ValueType where Value == BindAddress {
  static var address: ValueType {
    text(
      "address", expected: "an address, as in \"0.0.0.0:8080\"", write: { $0.description },
      parse: { text, directory throws(Diagnostic) in
        try AddressText.parse(text, directory: directory)
      })
  }
}

extension ValueType where Value == NetworkPrefix {
  static var network: ValueType {
    text(
      "network", expected: "a network, as in \"10.0.0.0/8\"", write: { $0.description },
      parse: { text, _ throws(Diagnostic) in
        guard let network = NetworkPrefix(text) else {
          throw Diagnostic(
            "is not a network",
            remedy: "write an IP address, or a block whose bits after its length are 0, as in \"10.0.0.0/8\"")
        }
        return network
      })
  }
}

extension ValueType where Value == UpstreamAddress {
  static var upstreamURL: ValueType {
    text(
      "address", expected: "an address, as in \"http://127.0.0.1:3000\"", write: { $0.description },
      parse: { text, directory throws(Diagnostic) in
        try UpstreamURL.parse(text, directory: directory)
      })
  }
}

extension ValueType where Value == EndpointAddress {
  static var endpoint: ValueType {
    text(
      "address", expected: "an address with its path, as in \"http://127.0.0.1:3000/hooks/apple\"",
      write: { $0.description },
      parse: { text, _ throws(Diagnostic) in
        try EndpointURL.parse(text)
      })
  }
}

extension ValueType where Value == StoreSettings.Location {
  static var storeURL: ValueType {
    text(
      "store", expected: "a store, as in \"sqlite:cordon.db\"", isConfidential: true, write: StoreURL.format,
      parse: { text, directory throws(Diagnostic) in
        try StoreURL.parse(text, directory: directory)
      })
  }
}

extension ValueType where Value == ConnectProxy {
  static var proxyURL: ValueType {
    text(
      "address", expected: "the address of a proxy, as in \"http://proxy:3128\"", isConfidential: true,
      write: { $0.description },
      parse: { text, _ throws(Diagnostic) in
        try ProxyURL.parse(text)
      })
  }
}

extension ValueType where Value == EndCookie {
  /// A session cookie of an application.
  static var endCookie: ValueType {
    text(
      "cookie", expected: "the name of a cookie, as in \"PHPSESSID\"", write: { $0.description },
      parse: { text, _ throws(Diagnostic) in
        guard let cookie = EndCookie(text) else {
          throw Diagnostic(
            "is not a cookie", remedy: "write its name, as in \"PHPSESSID\", or \"PHPSESSID; Path=/x; Domain=d\"")
        }
        guard !cookie.name.utf8.contains(UInt8(ascii: "*")) else {
          throw Diagnostic("looks like a pattern, and names are taken literally", remedy: "write each name in full")
        }
        guard !cookie.name.utf8.map(\.asciiLowercased).starts(with: "__host-cordon".utf8) else {
          throw Diagnostic("is a cookie of the gateway", remedy: "remove it: the gateway ends its own cookies")
        }
        return cookie
      })
  }
}
