/// The page on which a user is chosen and decides.
///
/// Control ids, for browser tests: `user-ID` of each user, `user-new` with `new-email`, `new-first-name` and
/// `new-last-name`; `first-name` and `last-name` (first time only); `share-email`, `hide-email`; `continue`, `cancel`.
/// It works without scripts; with them it hides what does not apply to the chosen user and shows their name.
struct AuthorizePage {
  let choice: AuthorizationFlow.Choice

  var html: String {
    SimulatorPage(title: "Sign in", body: body, script: Self.script).html
  }

  private var body: String {
    """
    <h1>Sign in to <span class="client">\(escapedHTML(choice.request.clientID))</span></h1>
    <p class="lead">\(asked)</p>
    <form method="post" action="/auth/authorize" id="authorize">
    <input type="hidden" name="request" value="\(choice.ticket)">
    <fieldset><legend>Who are you?</legend>
    \(choice.users.enumerated().map { row($1, isChosen: $0 == 0) }.joined(separator: "\n"))
    <label class="user" for="user-new"><input type="radio" name="user" value="new" id="user-new">
    <span><b>Somebody new</b><small>Make an account now</small></span></label>
    <div class="fields" id="new-fields">
    \(field("new-email", name: "new_email", label: "E-mail", type: "email"))
    \(field("new-first-name", name: "new_first_name", label: "First name"))
    \(field("new-last-name", name: "new_last_name", label: "Last name"))
    </div></fieldset>
    \(nameFields)\(emailFields)
    <p class="note" id="known-note" hidden>You have signed in to this app before: it is told neither name nor a new e-mail choice.</p>
    <div class="actions">
    <button class="secondary" type="submit" name="decision" value="cancel" id="cancel" formnovalidate>Cancel</button>
    <button type="submit" name="decision" value="continue" id="continue">Continue</button>
    </div></form>
    <p class="back">The answer goes to <code>\(escapedHTML(choice.request.redirectURI))</code> by \
    <code>\(choice.request.responseMode.rawValue)</code>.</p>
    """
  }

  private var asked: String {
    let names = ["name": "your name", "email": "your e-mail address"]
    let wanted = choice.request.scopes.map { names[$0] ?? escapedHTML($0) }
    return wanted.isEmpty
      ? "The app asks only who you are." : "The app asks for \(wanted.joined(separator: " and "))."
  }

  private func row(_ user: SimulatedUser, isChosen: Bool) -> String {
    let id = escapedHTML(user.id)
    let isKnown = choice.knownUserIDs.contains(user.id)
    return """
      <label class="user" for="user-\(id)"><input type="radio" name="user" value="\(id)" id="user-\(id)"\
      \(isChosen ? " checked" : "") data-known="\(isKnown)" data-first="\(escapedHTML(user.firstName))" \
      data-last="\(escapedHTML(user.lastName))" data-email="\(escapedHTML(user.email ?? ""))">
      <span><b>\(escapedHTML("\(user.firstName) \(user.lastName)"))</b>\
      <small>\(escapedHTML(user.email ?? "Managed account without e-mail"))</small></span>\
      \(isKnown ? "<em>known</em>" : "")</label>
      """
  }

  private var nameFields: String {
    guard choice.request.scopes.contains("name") else { return "" }
    return """
      <fieldset id="name-fields"><legend>Name</legend><div class="fields">
      \(field("first-name", name: "first_name", label: "First name"))
      \(field("last-name", name: "last_name", label: "Last name"))
      </div></fieldset>

      """
  }

  private var emailFields: String {
    guard choice.request.scopes.contains("email") else { return "" }
    return """
      <fieldset id="email-fields"><legend>E-mail</legend>
      <label class="option" for="share-email"><input type="radio" name="email_choice" value="share" \
      id="share-email" checked><span>Share my e-mail<small id="shared-address"></small></span></label>
      <label class="option" for="hide-email"><input type="radio" name="email_choice" value="hide" \
      id="hide-email"><span>Hide my e-mail<small>The app gets a relay address instead</small></span></label>
      </fieldset>

      """
  }

  private func field(_ id: String, name: String, label: String, type: String = "text") -> String {
    """
    <div class="field"><label for="\(id)">\(label)</label>\
    <input type="\(type)" id="\(id)" name="\(name)" autocomplete="off" spellcheck="false"></div>
    """
  }

  private static let script = """
    const by = id => document.getElementById(id);
    function update() {
      const user = document.querySelector('input[name=user]:checked');
      const isNew = !user || user.value === 'new', known = !!user && user.dataset.known === 'true';
      const show = (id, on) => { const e = by(id); if (e) e.hidden = !on; };
      show('new-fields', isNew); show('name-fields', !isNew && !known); show('known-note', known);
      show('email-fields', !known && (isNew || user.dataset.email !== ''));
      if (by('first-name')) {
        by('first-name').value = isNew ? '' : user.dataset.first;
        by('last-name').value = isNew ? '' : user.dataset.last;
      }
      if (by('shared-address')) by('shared-address').textContent = isNew ? '' : user.dataset.email;
    }
    for (const radio of document.querySelectorAll('input[name=user]')) radio.addEventListener('change', update);
    update();
    """
}

/// The page that carries a `form_post` answer to the client, which is another site.
struct FormPostPage {
  let answer: AuthorizationAnswer

  var html: String {
    let inputs = answer.fields.map {
      "<input type=\"hidden\" name=\"\(escapedHTML($0.name))\" value=\"\(escapedHTML($0.value))\">"
    }
    return SimulatorPage(
      title: "Returning",
      body: """
        <h1>Going back to the app</h1>
        <form method="post" action="\(escapedHTML(answer.redirectURI))" id="answer">
        \(inputs.joined(separator: "\n"))
        <noscript><p>Scripts are off, so one more press is needed.</p>
        <div class="actions"><button type="submit" id="return">Return to the app</button></div></noscript>
        </form>
        """,
      script: "document.getElementById('answer').submit();"
    ).html
  }
}

/// The page for an invalid request. Carries Apple's code in `error-code`.
struct ErrorPage {
  let code: String
  let message: String

  var html: String {
    SimulatorPage(
      title: "Error",
      body: """
        <h1 id="error-code">\(escapedHTML(code))</h1>
        <p class="lead" id="error-description">\(escapedHTML(message))</p>
        <p>Your request could not be completed because of an error. Apple would show it here rather than send it to \
        the app.</p>
        """,
      script: nil
    ).html
  }
}
