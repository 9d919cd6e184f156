internal import WebFormats

extension PageRenderer {
  /// The query item of `authorize` with the fragment to return to, which the script of the sign-in page adds.
  package static let fragment = "fragment"

  /// The page with Apple's button: a link, not a form, because browsers hold the redirect to Apple to `form-action`.
  ///
  /// - Parameters:
  ///   - returnTo: the path to go to after signing in.
  ///   - visit: the sealed visit from another host, which says where to go instead.
  ///   - button: how the button looks.
  package func signIn(
    returnTo: String = "/", visit: String? = nil, button: SignInButton = SignInButton()
  ) -> RenderedPage {
    let path = GatewayEndpoint.authorize.path(below: prefix)
    let authorize = visit.map { Link(path: "\(path)?visit=\($0)") } ?? Link(page: path, returnTo: returnTo)
    return page(
      .signIn,
      PageFrame(
        title: text(.signInTitle(application: applicationName)), script: Markup(trusted: PageScript.signIn),
        style: button.style),
      [
        "heading": text(.signInTitle(application: applicationName)),
        "explanation": text(.signInExplanation(application: applicationName)),
        "authorize": authorize.href, "button": button.markup(to: authorize),
      ])
  }

  /// The question that `GET sign-out` asks. Its form is posted to `sign-out`, with `return_to`; the answer of that must
  /// not redirect to another origin, or browsers stop it.
  ///
  /// - Parameters:
  ///   - user: the name or the address of the user, if known.
  ///   - returnTo: where to go if the user stays.
  package func signOutQuestion(user: String? = nil, returnTo: String = "/") -> RenderedPage {
    var values = [
      "heading": text(.signOutQuestion(application: applicationName)), "explanation": text(.signOutExplanation),
      "action": Link(path: GatewayEndpoint.signOut.path(below: prefix)).href,
      "fields": Markup(hiddenFields: [("return_to", Link.local(returnTo))]),
      "signOutButton": text(.signOutButton), "stay": Link(path: returnTo).href, "stayLabel": text(.stayButton),
    ]
    values.merge(signedIn(as: user)) { $1 }
    return page(
      .signOut, PageFrame(title: text(.signOutQuestion(application: applicationName)), formAction: .sameOrigin), values)
  }

  /// The page after signing out.
  ///
  /// - Parameter returnTo: the path to go to when the user signs in again.
  package func signedOut(returnTo: String = "/") -> RenderedPage {
    page(
      .signedOut, PageFrame(title: text(.signedOutTitle)),
      [
        "heading": text(.signedOutTitle), "explanation": text(.signedOutExplanation(application: applicationName)),
        "signIn": Link(page: GatewayEndpoint.signIn.path(below: prefix), returnTo: returnTo).href,
        "signInLabel": text(.signInAgainButton),
      ])
  }

  /// The page that posts an answer in the address's fragment, which browsers keep to themselves: its script makes a
  /// form of `location.hash`. Without scripts there is no way on, and the page says so.
  ///
  /// - Parameter field: tells the callback that our own page posts the form.
  package func callbackFragment(field: (name: String, value: String)) -> RenderedPage {
    page(
      .fragment,
      PageFrame(
        title: text(.repostTitle), script: Markup(trusted: PageScript.fragment), formAction: .unlimited,
        style: Markup(trusted: Stylesheet.later)),
      [
        "heading": text(.signInTitle(application: applicationName)), "explanation": text(.repostExplanation),
        "action": Link(path: GatewayEndpoint.callback.path(below: prefix)).href,
        "fields": Markup(hiddenFields: [field]),
        "continueLabel": text(.continueButton), "scriptNeeded": text(.scriptNeeded),
        "again": Link(path: GatewayEndpoint.signIn.path(below: prefix)).href, "againLabel": text(.tryAgainButton),
      ])
  }

  /// The page that posts Apple's answer once more, from our own origin: Apple's POST is cross-site and does not carry a
  /// `SameSite=Lax` cookie; this one does. By itself where scripts run, by its button where not.
  ///
  /// - Parameter fields: names and values of the form, in their order, including whatever tells the callback that it is
  ///   the second time.
  package func callbackRepost(fields: [(name: String, value: String)]) -> RenderedPage {
    page(
      .repost,
      PageFrame(
        title: text(.repostTitle), script: Markup(trusted: PageScript.repost), formAction: .unlimited,
        style: Markup(trusted: Stylesheet.later)),
      [
        "heading": text(.repostTitle), "explanation": text(.repostExplanation),
        "action": Link(path: GatewayEndpoint.callback.path(below: prefix)).href, "fields": Markup(hiddenFields: fields),
        "continueLabel": text(.continueButton),
      ])
  }
}
