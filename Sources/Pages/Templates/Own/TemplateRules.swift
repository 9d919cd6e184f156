/// The variables of each template, and its required content.
struct TemplateRules {
  /// The kind of a variable, which determines its permitted positions.
  enum Kind: Equatable {
    /// Escaped text: between tags, or in an attribute that is not an address.
    case text
    /// One of our addresses: in an attribute.
    case link
    /// Our markup: between tags.
    case markup
  }

  /// One of these must be there, not only in some cases.
  struct Requirement {
    var anyOf: [String]
    var purpose: String
  }

  let values: [String: Kind]
  let requirements: [Requirement]
  /// The form of the page, which goes to `action`.
  let form: FormRule

  /// Whether a page has a form.
  enum FormRule: Equatable {
    case none
    case one
    /// Within this section, or not at all.
    case within(String)
  }

  /// The section of the failure page for users who may ask for access.
  static let requestSection = "request_access"

  init(_ name: PageTemplates.Name) {
    let own = Self.own(name)
    values = Self.everywhere.merging(own.values) { _, own in own }
    requirements = own.requirements
    form = name == .failure ? .within(Self.requestSection) : own.values["action"] == nil ? .none : .one
  }

  /// Additional requirements of a page without the layout.
  static func standalone(_ name: PageTemplates.Name) -> [Requirement] {
    switch name {
    case .layout: []
    case .repost, .fragment: [style, script]
    case .signIn, .signOut, .signedOut, .failure, .account, .question, .notice: [style]
    }
  }

  private static let everywhere: [String: Kind] = [
    "language": .text, "direction": .text, "title": .text, "application": .text, "host": .text, "icon": .link,
    "mark": .markup, "style": .markup, "script": .markup, "requestID": .text, "requestIDLabel": .text,
  ]

  private static let style = Requirement(anyOf: ["style"], purpose: "the page has no style without it")
  private static let script = Requirement(anyOf: ["script"], purpose: "the page does not lead on by itself without it")
  private static let action = Requirement(anyOf: ["action"], purpose: "its form leads nowhere without it")

  private static let fields = Requirement(
    anyOf: ["fields"], purpose: "it holds what the form hands on, and the form is of no use without it")

  private static func own(_ name: PageTemplates.Name) -> (values: [String: Kind], requirements: [Requirement]) {
    switch name {
    case .layout: ([:], [style, script])
    case .signIn:
      (
        ["heading": .text, "explanation": .text, "authorize": .link, "button": .markup],
        [Requirement(anyOf: ["button", "authorize"], purpose: "nobody can sign in without it")]
      )
    case .signOut:
      (
        [
          "heading": .text, "explanation": .text, "action": .link, "fields": .markup, "signOutButton": .text,
          "stay": .link, "stayLabel": .text, "signedInAs": .text, "user": .text,
        ], [action, fields]
      )
    case .signedOut: (["heading": .text, "explanation": .text, "signIn": .link, "signInLabel": .text], [])
    case .failure:
      (
        [
          "heading": .text, "explanation": .text, "status": .text, "failure": .text, "advice": .text, "way": .link,
          "wayLabel": .text, "otherWay": .link, "otherWayLabel": .text, requestSection: .text, "action": .link,
          "fields": .markup, "requestExplanation": .text, "requestLabel": .text, "requestCode": .text,
          "requestCodeLabel": .text, "requestCodeSpelled": .text, "signedInAs": .text, "user": .text,
        ], [Requirement(anyOf: ["heading", "explanation"], purpose: "nobody is told what happened without it")]
      )
    case .repost:
      (
        [
          "heading": .text, "explanation": .text, "action": .link, "fields": .markup, "continueLabel": .text,
        ], [action, fields]
      )
    case .fragment:
      (
        [
          "heading": .text, "explanation": .text, "action": .link, "fields": .markup, "continueLabel": .text,
          "scriptNeeded": .text, "again": .link, "againLabel": .text,
        ], [action, fields]
      )
    case .account:
      (
        [
          "heading": .text, "notice": .text, "nameLabel": .text, "name": .text, "emailLabel": .text, "email": .text,
          "emailNote": .text, "groupsLabel": .text, "groups": .markup, "sessionsHeading": .text, "sessions": .markup,
          "moreSessions": .text, "endOthers": .markup, "signOut": .link, "signOutLabel": .text, "stop": .link,
          "stopLabel": .text,
        ],
        [
          Requirement(anyOf: ["sessions"], purpose: "nobody can see and end their sessions without it"),
          Requirement(anyOf: ["stop"], purpose: "nobody can stop using the application without it"),
        ]
      )
    case .question:
      (
        [
          "heading": .text, "explanation": .text, "advice": .text, "action": .link, "fields": .markup,
          "confirmButton": .text, "stay": .link, "stayLabel": .text,
        ], [action, fields]
      )
    case .notice:
      (
        ["heading": .text, "explanation": .text, "advice": .text, "way": .link, "wayLabel": .text],
        [Requirement(anyOf: ["heading", "explanation"], purpose: "nobody is told what happened without it")]
      )
    }
  }
}
