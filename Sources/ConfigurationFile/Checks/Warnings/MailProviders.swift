import AccessPolicy
import WebFormats

/// Finds domains of mail providers among those whose every address is admitted. `FileChecks` looks for them in members
/// files, whose contents are not kept.
struct MailProviders {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  /// Domains in which anybody can have an address, Apple's first.
  private static let domains: Set<[UInt8]> = Set(
    [
      "icloud.com", "me.com", "mac.com", "gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com",
      "msn.com", "yahoo.com", "ymail.com", "aol.com", "proton.me", "protonmail.com", "pm.me", "tutanota.com",
      "fastmail.com", "zoho.com", "mail.com", "gmx.com", "gmx.net", "gmx.de", "gmx.at", "gmx.ch", "web.de",
      "t-online.de", "freenet.de", "bluewin.ch", "orange.fr", "free.fr", "laposte.net", "libero.it", "virgilio.it",
      "hotmail.co.uk", "hotmail.fr", "yahoo.co.uk", "yahoo.fr", "yahoo.de", "yahoo.co.jp", "btinternet.com",
      "comcast.net", "qq.com", "foxmail.com", "163.com", "126.com", "naver.com", "daum.net", "hanmail.net",
      "uol.com.br", "terra.com.br", "yandex.com", "yandex.ru", "mail.ru",
    ].map { Array($0.utf8) })

  var all: [ConfigurationDiagnostic] {
    var warnings = lists.flatMap { table, lists -> [ConfigurationDiagnostic] in
      let list = table.appending("allow_email_domains")
      return lists.emailDomains.enumerated().filter { Self.isProvider($0.element.utf8) }.map { place, domain in
        warning(list.appending(place), domain, remedy: "list the users' addresses in allow_emails instead")
      }
    }
    let admitting = Self.admittingGroups(of: configuration)
    for (number, group) in configuration.groups.enumerated() where admitting.contains(Array(group.name.utf8)) {
      let list = GroupChecks.path(at: number).appending("members")
      for (place, member) in group.members.enumerated() where Self.admitsAnybody(member) {
        warnings.append(warning(list.appending(place), member, remedy: Self.remedy))
      }
    }
    return warnings
  }

  /// For the members of a group.
  static let remedy = "list the users' addresses instead"

  /// The problem of a domain that is shown.
  static func problem(of domain: String) -> String {
    "\"\(domain)\" is a mail provider's domain: anybody can have an address there"
  }

  /// Whether a member of a group is the domain of a mail provider.
  static func admitsAnybody(_ member: String) -> Bool {
    member.utf8.first == UInt8(ascii: "@") && isProvider(member.utf8.dropFirst())
  }

  /// The names of the groups whose members a list admits, or who may admit others.
  static func admittingGroups(of configuration: Configuration) -> Set<[UInt8]> {
    var names = configuration.access.managers + (configuration.access.lists?.groups ?? [])
    for route in configuration.routes {
      if case .lists(let lists) = route.access { names += lists.groups }
    }
    return Set(names.map { Array($0.utf8) })
  }

  /// The allow lists of `[access]` and of routes.
  private var lists: [(table: NodePath, lists: AccessLists)] {
    var result: [(table: NodePath, lists: AccessLists)] = []
    if let lists = configuration.access.lists { result.append((NodePath(ConfigurationSchema.access.name), lists)) }
    for (index, route) in configuration.routes.enumerated() {
      if case .lists(let lists) = route.access { result.append((places.route(index), lists)) }
    }
    return result
  }

  private func warning(_ place: NodePath, _ domain: String, remedy: String) -> ConfigurationDiagnostic {
    context.warning(atKey: place, Self.problem(of: context.concealing(domain)), remedy: remedy)
  }

  static func isProvider(_ domain: some Sequence<UInt8>) -> Bool {
    domains.contains(domain.map(\.asciiLowercased))
  }
}
