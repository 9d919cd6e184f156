package import WebFormats

extension PageRenderer {
  /// The page for a form that was submitted without a session, or with one that is too old, with its entries as hidden
  /// fields. It stays open while the user signs in in another tab; then its button submits them to the address of the
  /// page. Only its script makes the button work, because it has to see who has signed in.
  ///
  /// - Parameters:
  ///   - account: the keyed hash of the only account that may send it; nil for any.
  ///   - maxAge: the longest age of its sign-in in seconds, 0 for any, where that of the user was not recent enough;
  ///     nil where nobody was signed in.
  ///   - returnTo: the page that the form was on, for browsers without scripts.
  package func keptForm(
    _ form: FormEntries, account: String?, maxAge: Int? = nil, requestID: String? = nil, returnTo: String = "/"
  ) -> RenderedPage {
    let failure = PageFailure.formNotSent
    let said = texts.text(failure, application: applicationName)
    let outdated = maxAge.map { _ in texts.text(PageFailure.reauthenticationRequired, application: applicationName) }
    let explanation = Markup(escapingOwn: (outdated ?? said).explanation)
    let signIn = maxAge == nil ? PageFailure.RecoveryAction.signIn : .newSignIn
    let own = GatewayEndpoint.form.path(below: prefix)
    let age = maxAge.map { "&\(Self.formMaxAge)=\($0)" } ?? ""
    let check = Link(path: "\(own)?\(Self.formAccount)=\(account ?? "")\(age)")
    return page(
      // The form is submitted to the address of the page, which may redirect anywhere.
      PageFrame(
        status: failure.status, title: text(.failureTitle(heading: said.heading, application: applicationName)),
        requestID: requestID, script: Markup(trusted: PageScript.form), allowsRequests: true, formAction: .unlimited),
      content: """
        <div role="alert">
        <h1>\(Markup(escapingOwn: said.heading))</h1>
        </div>
        <noscript>
        <p>\(explanation)</p>
        <p>\(text(FormText.keepingNeedsScript))</p>
        <p>\(Markup(escapingOwn: said.advice ?? ""))</p>
        <div class="ways">
        <a class="solid" href="\(link(signIn, returnTo: returnTo).href)">\(text(PageText.signInButton))</a>
        </div></noscript>
        <div id="kept" data-check="\(check.href)" hidden>
        <div role="status">
        <div data-account="none">
        <p>\(explanation)</p>
        <p>\(text(FormText.kept))</p>
        <div class="ways">\(tabLink(signIn, text(PageText.signInButton), to: own))</div>
        </div>
        <div data-account="same" hidden>
        <p>\(text(FormText.ready))</p>
        <div class="ways"><button class="solid" type="button" id="send">\(text(FormText.sendButton))</button></div>
        </div>
        <div data-account="other" hidden>
        <p>\(text(FormText.otherAccount))</p>
        <div class="ways">\(tabLink(.otherAccount, text(PageText.otherAccountButton), to: own))</div>
        </div>
        </div>
        <form id="entries" method="post" enctype="\(form.encoding.rawValue)">
        \(Markup(lines: form.entries.map(Self.field)))
        </form>
        </div>
        """)
  }

  /// The page for such a form whose entries could not be kept.
  ///
  /// - Parameter failure: `formNotSent`, or the reason to sign in again.
  package func formNotKept(
    because failure: PageFailure = .formNotSent, requestID: String? = nil, returnTo: String = "/"
  ) -> RenderedPage {
    self.failure(
      failure, requestID: requestID, returnTo: returnTo, advice: texts.text(FormText.notKept))
  }

  /// The page that a sign-in for a kept form ends on, in a tab of its own.
  package func backToForm() -> RenderedPage {
    page(
      .notice, PageFrame(title: text(FormText.signedInTitle)),
      ["heading": text(FormText.signedInTitle), "explanation": text(FormText.signedInExplanation)])
  }

  /// The query item of the endpoint `form` with the keyed hash of the account.
  package static let formAccount = "account"
  /// The query item with the longest age of the sign-in.
  package static let formMaxAge = "max_age"

  /// A link that opens in a new tab, so that the page with the form stays.
  private func tabLink(_ way: PageFailure.RecoveryAction, _ label: Markup, to path: String) -> Markup {
    """
    <a class="solid" target="_blank" rel="noopener" href="\(link(way, returnTo: path).href)">\(label)</a>
    """
  }

  /// An entry as a field that submits the same bytes.
  private static func field(_ entry: FormEntries.Entry) -> Markup {
    switch entry.content {
    case .text(let text):
      "<input type=\"hidden\" name=\"\(Markup(exactly: entry.name))\" value=\"\(Markup(exactly: text))\">"
    case .noFile: "<input type=\"file\" name=\"\(Markup(exactly: entry.name))\" hidden>"
    }
  }

  func text(_ key: FormText) -> Markup { Markup(escapingOwn: texts.text(key)) }
}
