import AccessPolicy
import DataPlane

/// A configuration while it is read.
struct Draft: ReadingTarget {
  var configuration = Configuration()
  /// `[listen]`.
  var main = EntranceDraft()
  /// `upstream.url` and `upstream.urls`, of which one is to be there.
  var upstreamURL = UpstreamAddress.unix(path: "")
  var upstreamURLs: [UpstreamAddress]?
  var upstreamTLS = UpstreamTLSDraft()
  /// `upstream.check`, which holds where there is a path.
  var checkPath: String?
  var check = UpstreamCheckSettings(path: "/")
  /// `assertion.key_files` and `assertion.audience`: both or neither.
  var assertionKeyFiles: [String]?
  var audience: String?
  /// `pages.templates`.
  var templates: String?
}

/// One of `[[upstreams]]` while it is read.
struct UpstreamDraft: ReadingTarget {
  var name = ""
  var url: UpstreamAddress?
  var urls: [UpstreamAddress]?
  var speaks = HTTPProtocol.http1
  var lenient: [UpstreamLenience] = []
  var checkPath: String?
  var tls = UpstreamTLSDraft()
}

/// What an upstream is told about TLS, while it is read.
struct UpstreamTLSDraft: Sendable {
  var authorityFile: String?
  /// Halves of the client's certificate, until both are seen.
  var certificateFile: String?
  var privateKeyFile: String?
  var serverName: String?

  var settings: UpstreamTLSSettings {
    var settings = UpstreamTLSSettings()
    settings.authorityFile = authorityFile
    settings.serverName = serverName
    if let certificateFile, let privateKeyFile {
      settings.certificate = TLSFiles(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    }
    return settings
  }
}

/// A route while it is read.
struct RouteDraft: ReadingTarget {
  var path = ""
  var access: Access?
  var unauthenticated = Unauthenticated.automatic
  var upstream: String?
  var subjects: [String]?
  var emails: [String]?
  var emailDomains: [String]?
  var organizations: [String]?
  var privateEmail: AccessRules.PrivateEmail?
  var requirements: [ClaimRequirement]?

  enum Access: String, Sendable, CaseIterable {
    case signedIn = "signed-in"
    case `public`, deny
  }

  enum Unauthenticated: String, Sendable, CaseIterable {
    case automatic = "auto"
    case unauthorized = "401"
  }

  /// Whether one of the lists is there.
  private var hasLists: Bool { subjects != nil || emails != nil || emailDomains != nil || organizations != nil }

  /// Whether not everybody with a session may pass.
  var hasRules: Bool { hasLists || (privateEmail ?? .allow) != .allow || requirements?.isEmpty == false }

  var rules: AccessRules {
    var rules = AccessRules()
    rules.subjects = subjects ?? []
    rules.emails = emails ?? []
    rules.emailDomains = emailDomains ?? []
    rules.organizations = organizations ?? []
    rules.hasLists = hasLists
    rules.privateEmail = privateEmail ?? .allow
    rules.requirements = joined(requirements ?? [])
    return rules
  }

  /// Values of one claim stand for each other, wherever they stand in the list.
  private func joined(_ requirements: [ClaimRequirement]) -> [ClaimRequirement] {
    var result: [ClaimRequirement] = []
    for requirement in requirements {
      if let place = result.firstIndex(where: { $0.claim.utf8.elementsEqual(requirement.claim.utf8) }) {
        result[place].values += requirement.values
      } else {
        result.append(requirement)
      }
    }
    return result
  }
}
