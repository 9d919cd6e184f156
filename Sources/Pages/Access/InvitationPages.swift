internal import WebFormats

extension PageRenderer {
  /// The page of an invitation link. It tells what a guest needs: the application, the account that would join, and a
  /// link to use another one.
  ///
  /// - Parameters:
  ///   - path: the path of the page itself, which its form posts to.
  ///   - user: the name or the address of the user; nil without a session.
  package func invitation(path: String, user: String?) -> RenderedPage {
    let explanation: Markup
    var ways = Markup.button(text(.joinButton), style: "solid")
    if let user {
      explanation = """
        <p>\(text(PageText.signedInAs))<br><strong><bdi>\(user)</bdi></strong></p>
        <p>\(text(.invitationExplanation(application: applicationName)))</p>
        """
      let other = link(.otherAccount, returnTo: path).href
      ways = "\(ways)\n<a class=\"quiet\" href=\"\(other)\">\(text(PageText.otherAccountButton))</a>"
    } else {
      explanation = """
        <p>\(text(.invitationExplanation(application: applicationName)))</p>
        <p>\(text(.invitationSignIn))</p>
        """
    }
    let form = Form(action: Link(path: path)).markup(style: "ways", ways)
    // Without a session the answer may lead to Apple, which browsers would hold to `form-action`.
    let page = page(
      PageFrame(
        title: text(
          PageText.failureTitle(
            heading: texts.text(.invitationTitle(application: applicationName)), application: host)),
        formAction: .unlimited, style: Markup(trusted: Stylesheet.controls)),
      content: """
        <h1>\(text(.invitationTitle(application: applicationName)))</h1>
        \(explanation)
        \(form)
        """)
    return page.ofSecretAddress
  }

  /// The page after an invitation was accepted.
  ///
  /// - Parameter isNew: whether it was used; otherwise the user was a member already.
  package func joined(isNew: Bool) -> RenderedPage {
    welcome(isNew ? .joinedExplanation : .memberExplanation, returnTo: "/").ofSecretAddress
  }

  /// The page of a member for an invitation that admits nobody any longer.
  package func alreadyMember() -> RenderedPage { welcome(.hasAccessExplanation, returnTo: "/").ofSecretAddress }

  /// The page of a user who asks for access and has it meanwhile.
  ///
  /// - Parameter returnTo: the path that was wanted.
  package func admitted(returnTo: String) -> RenderedPage { welcome(.joinedExplanation, returnTo: returnTo) }

  private func welcome(_ explanation: AccessText, returnTo: String) -> RenderedPage {
    let heading = text(.joinedTitle(application: applicationName))
    return page(
      PageFrame(title: heading, style: Markup(trusted: Stylesheet.controls)),
      content: """
        <h1>\(heading)</h1>
        <p role="status">\(text(explanation))</p>
        <div class="ways">
        <a class="solid" href="\(Link(path: returnTo, origin: linkOrigin).href)">\(text(PageText.continueButton))</a>
        </div>
        """)
  }
}

extension RenderedPage {
  /// The same page at an address that holds a code: its referrers name the origin alone, which our own forms need.
  package var ofSecretAddress: RenderedPage {
    var page = self
    page.referrerPolicy = "strict-origin"
    return page
  }
}
