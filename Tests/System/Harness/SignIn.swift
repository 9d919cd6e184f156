import Foundation

/// Signing in without a browser: from the gateway to Apple's page, through the decision, and back.
extension Visitor {
  /// The input that Apple's page asks for.
  enum Decision: Sendable {
    case proceed(user: String, hideEmail: Bool = false)
    case cancel
  }

  /// Goes from the gateway to Apple and back, and lands where the gateway says.
  @discardableResult
  func signIn(
    _ site: Site, as user: String = "anna", returnTo: String? = nil, hideEmail: Bool = false
  ) throws -> Page {
    try start(site, returnTo: returnTo)
    try decide(.proceed(user: user, hideEmail: hideEmail))
    return try carryBack()
  }

  /// Opens `authorize` and follows to Apple's page.
  @discardableResult
  func start(_ site: Site, returnTo: String? = nil) throws -> Page {
    let query = returnTo.map { "?return_to=\(FormEncoding.escape($0))" } ?? ""
    return try open(site.own("authorize\(query)"))
  }

  /// Decides on Apple's page; the page that carries the answer is open then.
  @discardableResult
  func decide(_ decision: Decision, following: Bool = true) throws -> Page {
    guard let page, let form = page.forms.first(where: { $0.buttons.contains { $0.0 == "decision" } }) else {
      throw HarnessError.missing("Apple's page; open is \(page.map { "\($0.address): \($0.text)" } ?? "nothing")")
    }
    switch decision {
    case .cancel: return try submit(form, button: ("decision", "cancel"), following: following)
    case .proceed(let user, let hideEmail):
      // The page's script writes the account's name into the fields when a user is chosen.
      let row = HTMLTag.all(in: page.text).first { $0["id"] == "user-\(user)" }
      let filled = form.filling([
        "user": user, "first_name": row?["data-first"] ?? "", "last_name": row?["data-last"] ?? "",
        "email_choice": hideEmail ? "hide" : "share",
      ])
      return try submit(filled, button: ("decision", "continue"), following: following)
    }
  }

  /// The form that carries Apple's answer to the gateway, on the page that is open.
  func answerForm() throws -> HTMLForm {
    guard let form = page?.forms.first(where: { $0.action.hasSuffix("/callback") }) else {
      throw HarnessError.missing("Apple's answer; open is \(page.map { "\($0.address): \($0.text)" } ?? "nothing")")
    }
    return form
  }

  /// Submits Apple's answer, and the same form again where the gateway asks for it (a cross-site POST carries no
  /// `SameSite=Lax` cookie).
  @discardableResult
  func carryBack(_ form: HTMLForm? = nil, following: Bool = true) throws -> Page {
    var result = try submit(form ?? answerForm(), following: following)
    for _ in 0..<2 {
      guard let again = result.forms.first(where: { $0.action.hasSuffix("/callback") }) else { break }
      result = try submit(again, following: following)
    }
    return result
  }
}

extension Site {
  /// Somebody who has signed in.
  func signedIn(as user: String = "anna") throws -> Visitor {
    let visitor = Visitor()
    let page = try visitor.signIn(self, as: user)
    guard visitor.jar["__Host-cordon"] != nil else {
      throw HarnessError.missing("a session after signing in as \(user): \(page.status) \(page.address) \(page.text)")
    }
    return visitor
  }
}
