import AccessPolicy
import WebFormats

/// `[access]` while it is read.
struct AccessBuilder: Sendable {
  var lists = AllowListsBuilder()
  var privateEmail = AccessConditions.PrivateEmail.allow
  var requirements: [ClaimRequirement] = []
  var denied = DenyLists()
  var networks: [NetworkPrefix]?
  var maxAge = Duration.zero
  var tokens = false
  var requests = false
  var managers: [String] = []
  var unauthenticated = Unauthenticated.automatic

  var settings: AccessSettings {
    var settings = AccessSettings()
    if let lists = lists.settings, !lists.isEmpty { settings.lists = lists }
    settings.conditions = AccessConditions(privateEmail, requirements, denied)
    settings.networks = networks ?? []
    settings.maxAge = Int(maxAge.components.seconds)
    settings.tokens = tokens
    settings.requests = requests
    settings.managers = managers
    settings.unauthenticated = unauthenticated.setting
    return settings
  }
}

/// The allow lists of `[access]` or of a route while they are read; nil for one that is not present.
struct AllowListsBuilder: Sendable {
  var subjects: [String]?
  var emails: [String]?
  var emailDomains: [String]?
  var organizations: [String]?
  var groups: [String]?

  /// Each list with its key.
  private var all: [(key: String, list: [String]?)] {
    [
      ("allow_subjects", subjects), ("allow_emails", emails), ("allow_email_domains", emailDomains),
      ("allow_organizations", organizations), ("allow_groups", groups),
    ]
  }

  /// The keys of all lists.
  static let keys = AllowListsBuilder().all.map(\.key)

  /// The keys of lists that are present and empty.
  var emptyKeys: [String] { all.filter { $0.list?.isEmpty == true }.map(\.key) }

  /// The lists, if at least one is present.
  var settings: AccessLists? {
    guard all.contains(where: { $0.list != nil }) else { return nil }
    var lists = AccessLists()
    lists.subjects = subjects ?? []
    lists.emails = emails ?? []
    lists.emailDomains = emailDomains ?? []
    lists.organizations = organizations ?? []
    lists.groups = groups ?? []
    return lists
  }
}

/// The answer to a request without a session, as it is written.
enum Unauthenticated: String, Sendable, CaseIterable {
  case automatic = "auto"
  case unauthorized = "401"

  var setting: RouteSettings.Unauthenticated {
    switch self {
    case .automatic: .automatic
    case .unauthorized: .unauthorized
    }
  }
}

extension AccessConditions {
  /// Merges the values of one claim, which are alternatives, wherever they are in the list.
  init(_ privateEmail: PrivateEmail, _ requirements: [ClaimRequirement], _ denied: DenyLists) {
    self.init()
    self.denied = denied
    self.privateEmail = privateEmail
    for requirement in requirements {
      if let place = self.requirements.firstIndex(where: { $0.claim.utf8.elementsEqual(requirement.claim.utf8) }) {
        self.requirements[place].values += requirement.values
      } else {
        self.requirements.append(requirement)
      }
    }
  }
}
