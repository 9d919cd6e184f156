import Foundation
import Testing

/// A site whose application admits the groups "guests" and "staff" only. Anna is a manager by her address.
@SystemActor
enum AccessSite {
  static let manager = "anna"

  static func adjust(_ configuration: inout GatewayConfiguration) {
    configuration["access", "allow_groups"] = #"["guests", "staff", "managers"]"#
    configuration["access", "deny_groups"] = #"["blocked"]"#
    configuration["access", "requests"] = "true"
    configuration["access", "managers"] = #"["managers"]"#
    configuration["log", "access"] = "true"
    configuration["log", "format"] = "\"json\""
    configuration.ending = """
      [[group]]
      name = "managers"
      members = ["anna.bergstrom@example.com"]

      [[group]]
      name = "guests"

      [[group]]
      name = "staff"
      members = ["@staff.example"]

      [[group]]
      name = "blocked"
      members = ["eve@example.com"]

      """
  }

  static func make(
    fakeClock: Bool = false, also adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> Site {
    let site = try Site(
      fakeClock: fakeClock,
      adjust: {
        Self.adjust(&$0)
        adjust(&$0)
      })
    try addUser("eve", to: site)
    return site
  }

  /// A user of the simulator with the address `ID@DOMAIN`.
  static func addUser(_ id: String, domain: String = "example.com", to site: Site) throws {
    try site.apple.add(user: [
      "id": id, "first_name": id.capitalized, "last_name": "Lind", "email": "\(id)@\(domain)", "email_verified": true,
    ])
  }
}

extension Visitor.Page {
  /// The forms of the people page that order an act.
  func forms(_ act: String) -> [HTMLForm] { forms.filter { $0.inputs.contains { $0 == ("act", act) } } }

  /// A form whose hidden field has this value.
  func form(_ act: String, _ name: String? = nil, _ value: String? = nil) throws -> HTMLForm {
    let form = forms(act).first { form in
      guard let name, let value else { return true }
      return form.inputs.contains { $0 == (name, value) }
    }
    guard let form else { throw HarnessError.missing("the form \(act) \(value ?? ""); the page is \(status) \(text)") }
    return form
  }
}

extension Site {
  /// The code that a page shows.
  nonisolated func code(in text: String) -> String? {
    text.firstMatch(of: /[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/).map { String($0.output) }
  }

  /// The audit's lines of one event.
  func audit(_ event: String) -> [[String: Any]] {
    gateway.log.split(separator: 10).compactMap {
      try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any]
    }.filter { $0["kind"] as? String == "audit" && $0["event"] as? String == event }
  }

  /// The link of a new invitation, made by a manager on the people page.
  func invite(_ manager: Visitor, group: String = "guests", uses: Int = 1) throws -> String {
    let page = try manager.open(own("people"))
    let form = try page.form("invite").filling(["group": group, "uses": String(uses), "days": "7"])
    let made = try manager.submit(form)
    guard let link = made.text.firstMatch(of: /http:\/\/[^<"\s]+\/invite\/[A-Za-z0-9_-]{22}/) else {
      throw HarnessError.missing("the link of an invitation: \(made.status) \(made.text)")
    }
    return String(link.output)
  }
}
