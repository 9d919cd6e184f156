import Testing

@testable import Pages

@Suite("Pages of access")
struct AccessPageTests {
  private func html(_ page: RenderedPage) -> String { String(decoding: page.body, as: UTF8.self) }

  // MARK: Asking

  @Test("A user who may ask sees a button that posts where the user wanted to go, from our own page")
  func mayAsk() throws {
    let page = renderer(named: "Orchard").refusal(.forbidden, .mayAsk, returnTo: "/reports/?a=1&b=2")
    #expect(page.status == 403)
    #expect(html(page).contains("<form class=\"ways\" method=\"post\" action=\"/.auth/request-access\">"))
    #expect(html(page).contains("<input type=\"hidden\" name=\"return_to\" value=\"/reports/?a=1&amp;b=2\">"))
    #expect(html(page).contains(">Ask for access</button>"))
    #expect(html(page).contains("You can ask the operator of Orchard for access."))
    #expect(page.contentSecurityPolicy.contains("form-action 'self'"))
    #expect(!html(page).contains("class=\"code\""))
  }

  @Test("A user who has asked sees the code, which screen readers say sign by sign, and whom to tell it")
  func waits() throws {
    let renderer = renderer(named: "Orchard")
    for page in [
      renderer.refusal(.forbidden, .waits(code: "K7QF-3MDP"), returnTo: "/"),
      renderer.accessRequest(.waits(code: "K7QF-3MDP"), returnTo: "/"),
    ] {
      #expect(html(page).contains("<span class=\"code\" aria-hidden=\"true\">K7QF-3MDP</span>"))
      #expect(html(page).contains("<span class=\"unseen\">K 7 Q F, 3 M D P</span>"))
      #expect(html(page).contains("tell this code to the operator of Orchard."))
      #expect(!html(page).contains("<form"))
    }
    #expect(renderer.accessRequest(.waits(code: "K7QF-3MDP"), returnTo: "/").status == 200)
  }

  @Test("A refused user sees which account is signed in, as text")
  func account() throws {
    let renderer = renderer(named: "Orchard")
    let (user, line) = ("<b>anna</b>@example.com", "You are signed in as<br><strong><bdi>")
    for page in [
      renderer.failure(.forbidden, user: user), renderer.refusal(.forbidden, .mayAsk, returnTo: "/", user: user),
      renderer.refusal(.emailHidden, .waits(code: "K7QF-3MDP"), returnTo: "/", user: user),
      renderer.accessRequest(.mayAsk, returnTo: "/", user: user),
    ] {
      #expect(html(page).contains(line + "&lt;b&gt;anna&lt;/b&gt;@example.com</bdi>"), "\(html(page))")
      #expect(!html(page).contains("<b>anna"))
    }
    for page in [renderer.failure(.forbidden), renderer.failure(.forbidden, user: "")] {
      #expect(!html(page).contains("You are signed in as"))
    }
    #expect(!html(renderer.failureJSON(.forbidden)).contains("anna"))
  }

  @Test("A failure page of the operator's own may name the account")
  func accountInOwnTemplate() throws {
    let text = "{{<layout}}{{$content}}<h1>{{heading}}</h1>{{#user}}<p>{{signedInAs}} {{user}}</p>{{/user}}{{/content}}"
    var settings = PageSettings()
    settings.templates = try OwnTemplates(files: [("failure.mustache", Array((text + "{{/layout}}").utf8))])
    let renderer = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    let page = renderer.failure(.forbidden, user: "anna&ben@example.com")
    #expect(html(page).contains("<p>You are signed in as anna&amp;ben@example.com</p>"))
    #expect(!html(renderer.failure(.forbidden)).contains("You are signed in as"))
  }

  @Test("Programs are told where to ask, and the code of a request that waits")
  func json() throws {
    let renderer = renderer(named: "Orchard")
    let page = renderer.refusalJSON(.forbidden, .mayAsk, requestID: "r-1", returnTo: "/reports/?a=1")
    #expect(page.status == 403)
    #expect(html(page).contains("\"error\":\"forbidden\""))
    #expect(html(page).contains("\"request_access\":\"/.auth/request-access?return_to=/reports/%3Fa%3D1\""))
    #expect(!html(page).contains("\"code\""))
    let waiting = renderer.refusalJSON(.forbidden, .waits(code: "K7QF-3MDP"), returnTo: "/")
    #expect(html(waiting).contains("\"code\":\"K7QF-3MDP\""))
    #expect(html(renderer.accessRequestJSON(code: "K7QF-3MDP")).hasPrefix("{\"code\":\"K7QF-3MDP\",\"message\":"))
    #expect(!html(renderer.failureJSON(.forbidden)).contains("request_access"))
  }

  @Test("A failure page of the operator's own shows the button in its section, and one without the section is told of")
  func ownTemplate() throws {
    func own(_ content: String) throws -> OwnTemplates {
      let text = "{{<layout}}{{$content}}<h1>{{heading}}</h1>\(content){{/content}}{{/layout}}"
      return try OwnTemplates(files: [("failure.mustache", Array(text.utf8))])
    }
    let section = """
      {{#request_access}}{{#requestCode}}<b>{{requestCode}}</b>{{/requestCode}}{{#action}}\
      <form method="post" action="{{action}}">{{fields}}<button>{{requestLabel}}</button></form>{{/action}}\
      {{/request_access}}
      """
    let templates = try own(section)
    #expect(!templates.lacksRequestSection && !OwnTemplates().lacksRequestSection)
    #expect(try own("").lacksRequestSection)
    var settings = PageSettings()
    settings.templates = templates
    let renderer = PageRenderer(settings: settings, host: "books.example.com", prefix: "/.auth")
    #expect(html(renderer.refusal(.forbidden, .mayAsk, returnTo: "/")).contains("<button>Ask for access</button>"))
    #expect(html(renderer.refusal(.forbidden, .waits(code: "AB"), returnTo: "/")).contains("<b>AB</b>"))
    #expect(!html(renderer.failure(.forbidden)).contains("<form"))
    #expect(throws: TemplateError.self) { try own("{{#request_access}}x{{/request_access}}") }
    #expect(throws: TemplateError.self) {
      try own("<form method=\"post\" action=\"{{action}}\">{{fields}}<button>x</button></form>")
    }
  }

  // MARK: Invitations

  @Test("An invitation names the application and the account, and posts to its own address")
  func invitation() throws {
    let renderer = renderer(named: "Orchard")
    let page = renderer.invitation(path: "/.auth/invite/abc", user: "Anna <b>")
    #expect(html(page).contains("<h1>You are invited to Orchard</h1>"))
    #expect(html(page).contains("<bdi>Anna &lt;b&gt;</bdi>"))
    #expect(html(page).contains("method=\"post\" action=\"/.auth/invite/abc\""))
    let other = "<a class=\"quiet\" href=\"/.auth/authorize?return_to=/.auth/invite/abc\">Use another Apple Account</a>"
    #expect(html(page).contains(other))
    let stranger = html(renderer.invitation(path: "/.auth/invite/abc", user: nil))
    #expect(stranger.contains("press Join once more") && !stranger.contains("another Apple Account"))
    // The answer may lead to Apple, which `form-action` would stop.
    #expect(!page.contentSecurityPolicy.contains("form-action"))
  }

  // MARK: People

  @Test("Each button on the people page is named with whom it concerns")
  func buttons() throws {
    let page = html(renderer(named: "Orchard").people(peopleList(named: "Anna")))
    let identifiers = Set(page.matches(of: /id="([^"]+)"/).map { String($0.1) })
    let labels = page.matches(of: /aria-labelledby="([^"]+)"/).map { $0.1.split(separator: " ").map(String.init) }
    #expect(labels.count > 4)
    for label in labels { #expect(label.count == 2 && label.allSatisfy(identifiers.contains), "\(label)") }
    #expect(identifiers.count == page.matches(of: /id="([^"]+)"/).count, "an identifier is used twice")
    for field in page.matches(of: /<(?:input|select) id="([^"]+)"/).map({ String($0.1) }) {
      #expect(page.contains("for=\"\(field)\""), "no label for \(field)")
    }
  }

  @Test("Nothing about another manager can be changed on the page")
  func protected() throws {
    var details = personDetails(named: "Anna")
    details.person.isProtected = true
    let page = html(renderer(named: "Orchard").person(details))
    #expect(!page.contains("<form") && !page.contains("ask="))
    #expect(page.contains("only the command line can change it"))
  }

  @Test("A ban that managers may not lift is shown without a button")
  func protectedBan() {
    var details = personDetails(named: "Anna")
    for isLiftable in [true, false] {
      details.person.ban = PersonBan(until: nil, reason: "left the company", isLiftable: isLiftable)
      let page = html(renderer(named: "Orchard").person(details))
      #expect(page.contains("left the company") && page.contains("value=\"end-session\""))
      #expect(page.contains("value=\"unban\"") == isLiftable)
    }
  }

  @Test("An address that Apple has not verified is noted as such for managers, and no other one is")
  func unverifiedAddress() throws {
    let note = "Apple has not verified this address."
    let renderer = renderer(named: "Orchard")
    var (list, details) = (peopleList(named: "Anna"), personDetails(named: "Anna"))
    #expect(!html(renderer.people(list)).contains(note) && !html(renderer.person(details)).contains(note))
    list.requests[0].person.isEmailUnverified = true
    #expect(html(renderer.people(list)).ranges(of: note).count == 1)
    // Also where the address stands for the name.
    list.people[0].isEmailUnverified = true
    list.people[0].name = nil
    #expect(html(renderer.people(list)).ranges(of: note).count == 2)
    details.person.isEmailUnverified = true
    #expect(html(renderer.person(details)).contains("Anna@example.com</bdi><span class=\"mail\">\(note)</span></dd>"))
  }

  @Test("A member by configuration is shown as one, without a button")
  func configured() throws {
    var details = personDetails(named: "Anna")
    details.person.groups = [PersonGroup(name: "staff", membership: .configured)]
    let page = html(renderer(named: "Orchard").person(details))
    #expect(page.contains("by configuration") && !page.contains("value=\"remove\""))
  }

  @Test("A member of a protected group is shown without a button, and not as one by configuration")
  func protectedGroup() throws {
    var details = personDetails(named: "Anna")
    details.person.groups = [PersonGroup(name: "staff", membership: .protected)]
    let page = html(renderer(named: "Orchard").person(details))
    #expect(page.contains("staff") && !page.contains("by configuration") && !page.contains("value=\"remove\""))
  }

  @Test("Subjects and searches are escaped in addresses")
  func addresses() throws {
    var list = peopleList(named: "Anna")
    list.people = [PersonEntry(subject: "a&b=\"c")]
    list.search = "x&y"
    list.next = "n&1"
    let page = html(renderer(named: "Orchard").people(list))
    #expect(page.contains("/.auth/people?person=a%26b%3D%22c\""))
    #expect(page.contains("/.auth/people?q=x%26y&amp;after=n%261\""))
  }

  @Test(
    "Times are shown in UTC, in the same form in every language",
    arguments: [
      (0, "1970-01-01 00:00 UTC"), (951_782_400, "2000-02-29 00:00 UTC"), (1_798_761_599, "2026-12-31 23:59 UTC"),
      (-1, "1969-12-31 23:59 UTC"), (.max, "9999-12-31 23:59 UTC"), (.min, "0001-01-01 00:00 UTC"),
    ] as [(Int64, String)])
  func times(seconds: Int64, text: String) {
    #expect(PageTime(seconds: seconds).text == text)
  }

  @Test("A manager sees the browser of a session in everyday words, and an unknown one as it names itself")
  func browsers() throws {
    var details = personDetails(named: "Ada")
    let times = details.sessions[0]
    for (agent, shown) in [
      ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iPhone"),
      ("curl/8 <x>", "<bdi>curl/8 &lt;x&gt;</bdi>"), (nil, "Unknown browser"),
    ] {
      details.sessions = [
        PersonSession(handle: "0123", userAgent: agent, began: times.began, lastSeen: times.lastSeen)
      ]
      #expect(html(renderer(named: "Orchard").person(details)).contains("<span id=\"s0\">\(shown)</span>"))
    }
  }

  @Test(
    "The sentences of access are translated, and call the application by its name", arguments: PageLanguage.allCases)
  func translations(language: PageLanguage) {
    let name = "Orchard"
    let keys: [AccessText] =
      [
        .askExplanation(application: name), .tellCode(application: name), .invitationTitle(application: name),
        .invitationExplanation(application: name), .invitationSignIn, .joinedTitle(application: name),
        .joinedExplanation, .memberExplanation, .hasAccessExplanation, .noRequests, .nobodyFound, .noInvitations,
        .noSessions, .searchLabel, .protected, .bannedUntil(time: name), .bannedReason(reason: name), .untilHint,
        .banQuestion(name: name), .banExplanation, .endAllQuestion(name: name), .endAllExplanation, .linkTitle,
        .linkExplanation,
      ] + PeopleResult.allCases.map { .done($0) }
    for key in keys {
      let (english, text) = (EnglishTexts().text(key), language.texts.text(key))
      #expect(!text.isEmpty && !text.contains("  ") && text.first != " " && text.last != " ", "\(language) \(key)")
      #expect(language == .english || text != english, "\(language) \(key)")
      #expect(text.contains(name) == english.contains(name), "\(language) \(key)")
    }
  }
}

/// The pages of access, of an application of this name, with people of this name.
func accessPages(_ renderer: PageRenderer, _ name: String) -> [Exhibit] {
  let path = "/" + name
  var protected = personDetails(named: name)
  protected.person.isProtected = true
  return [
    Exhibit(name: "may-ask", page: renderer.refusal(.forbidden, .mayAsk, requestID: name, returnTo: path, user: name)),
    Exhibit(
      name: "waits",
      page: renderer.refusal(.emailHidden, .waits(code: name), requestID: name, returnTo: path, user: name)),
    Exhibit(name: "refused", page: renderer.failure(.forbidden, requestID: name, returnTo: path, user: name)),
    Exhibit(name: "ask", page: renderer.accessRequest(.mayAsk, returnTo: path)),
    Exhibit(name: "asked", page: renderer.accessRequest(.waits(code: name), returnTo: path)),
    Exhibit(name: "admitted", page: renderer.admitted(returnTo: path)),
    Exhibit(name: "invitation", page: renderer.invitation(path: path, user: name)),
    Exhibit(name: "invitation-stranger", page: renderer.invitation(path: path, user: nil)),
    Exhibit(name: "invitation-joined", page: renderer.joined(isNew: true)),
    Exhibit(name: "invitation-member", page: renderer.alreadyMember()),
    Exhibit(name: "invitation-link", page: renderer.invitationLink("https://books.example.com/" + name)),
    Exhibit(name: "people", page: renderer.people(peopleList(named: name))),
    Exhibit(name: "person", page: renderer.person(personDetails(named: name))),
    Exhibit(name: "person-protected", page: renderer.person(protected)),
    Exhibit(name: "ban", page: renderer.peopleQuestion(.ban, personDetails(named: name).person)),
    Exhibit(name: "end-sessions", page: renderer.peopleQuestion(.endSessions, personDetails(named: name).person)),
  ]
}

func peopleList(named name: String) -> PeopleList {
  var list = PeopleList()
  let person = personDetails(named: name).person
  var banned = person
  banned.ban = PersonBan(until: PageTime(seconds: 1_900_000_000), reason: name)
  var other = PersonEntry(subject: "002.\(name)")
  other.isSelf = true
  list.requests = [.init(code: "K7QF-3MDP", person: person, asked: PageTime(seconds: 1_790_000_000))]
  list.nextRequest = "K7QF-3MDP"
  list.people = [person, banned, other]
  list.search = name
  list.next = name
  list.invitations = [
    .init(
      id: "abcd2345", group: "guests", used: 2, uses: 5, expires: PageTime(seconds: 1_800_000_000), note: name,
      isRevocable: true)
  ]
  list.groups = ["guests", "staff"]
  list.result = .admitted
  return list
}

func personDetails(named name: String) -> PersonDetails {
  var person = PersonEntry(subject: "001.\(name)")
  person.name = name
  person.email = "\(name)@example.com"
  person.groups = [
    PersonGroup(name: "guests", membership: .removable),
    PersonGroup(name: "staff", membership: .configured),
  ]
  person.lastSeen = PageTime(seconds: 1_790_000_000)
  person.sessionCount = 2
  let session = PersonSession(
    handle: "0123", userAgent: name, began: PageTime(seconds: 1_790_000_000),
    lastSeen: PageTime(seconds: 1_790_003_600))
  return PersonDetails(person: person, sessions: [session, session], groups: ["editors"], result: .unchanged)
}
