internal import WebFormats

/// The pages for managers: people, requests, invitations. Every act is a form that posts to `people`.
extension PageRenderer {
  /// The list of requests, accounts and invitations.
  package func people(_ list: PeopleList) -> RenderedPage {
    page(
      title: peopleTitle, isWide: true,
      content: """
        <h1>\(text(.peopleTitle)) <small class="mail">\(applicationName)</small></h1>
        \(notice(list.result))
        \(requests(list))
        \(accounts(list))
        \(invitations(list))
        """)
  }

  /// The page of one person.
  package func person(_ details: PersonDetails) -> RenderedPage {
    let person = details.person
    return page(
      title: peopleTitle, isWide: true, formAction: person.isProtected ? .nowhere : .sameOrigin,
      content: """
        <nav><a href="\(peopleLink().href)">\(text(.back))</a></nav>
        <h1><bdi id="person">\(person.title)</bdi></h1>
        \(notice(details.result))
        \(person.isProtected ? "<p class=\"notice\">\(text(.protected))</p>" : "")
        \(facts(person))
        \(groupSection(details))
        \(sessionSection(details))
        \(person.isProtected ? "" : banSection(person))
        """)
  }

  /// The question before an act that cannot be undone.
  package func peopleQuestion(_ question: PeopleQuestion, _ person: PersonEntry) -> RenderedPage {
    let name = Markup.withoutDirections(person.title)
    let heading: Markup
    let explanation: Markup
    var form = Form(action: peopleLink())
    let fields: Markup
    let label: Markup
    switch question {
    case .ban:
      (heading, explanation) = (text(.banQuestion(name: name)), text(.banExplanation))
      form.hidden = [("act", PeopleAct.ban.rawValue), ("person", person.subject)]
      fields = Markup(lines: [
        .field("reason", label: text(.reasonLabel), limit: 200),
        .field("until", label: text(.untilLabel), kind: "date", limit: 20, hint: text(.untilHint)),
      ])
      label = text(.banButton)
    case .endSessions:
      (heading, explanation) = (text(.endAllQuestion(name: name)), text(.endAllExplanation))
      form.hidden = [("act", PeopleAct.endSessions.rawValue), ("person", person.subject)]
      (fields, label) = ("", text(.endAllButton))
    }
    return page(
      title: heading,
      content: """
        <h1>\(heading)</h1>
        <p>\(explanation)</p>
        \(form.markup(style: "ways", "\(fields)\(Markup.button(label, style: "solid danger"))"))
        <div class="ways">
        <a class="quiet" href="\(peopleLink([("person", person.subject)]).href)">\(text(.cancelButton))</a>
        </div>
        """)
  }

  /// The page with the link of a new invitation, which is shown this once.
  package func invitationLink(_ address: String) -> RenderedPage {
    page(
      title: text(.linkTitle), formAction: .nowhere,
      content: """
        <h1>\(text(.linkTitle))</h1>
        <p role="status">\(text(.linkExplanation))</p>
        <p class="link">\(address)</p>
        <div class="ways">
        <a class="solid" href="\(peopleLink().href)">\(text(.back))</a>
        </div>
        """
    ).ofSecretAddress
  }

  // MARK: Parts

  private var peopleTitle: Markup {
    text(PageText.failureTitle(heading: texts.text(.peopleTitle), application: applicationName))
  }

  private func peopleLink(_ query: [(name: String, value: String)] = []) -> Link {
    let path = GatewayEndpoint.people.path(below: prefix)
    guard !query.isEmpty else { return Link(path: path) }
    return Link(
      path: path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&"))
  }

  private func notice(_ result: PeopleResult?) -> Markup {
    guard let result else { return "" }
    return result.isDone
      ? "<p class=\"notice\" role=\"status\">\(text(.done(result)))</p>"
      : "<p class=\"notice trouble\" role=\"alert\">\(text(.done(result)))</p>"
  }

  private func form(_ act: PeopleAct, _ fields: [(name: String, value: String)]) -> Form {
    Form(action: peopleLink(), hidden: [("act", act.rawValue)] + fields)
  }

  private func requests(_ list: PeopleList) -> Markup {
    let heading: Markup = "<h2 id=\"requests\">\(text(.requestsHeading))</h2>"
    guard !list.requests.isEmpty else { return "\(heading)\n<p>\(text(.noRequests))</p>" }
    var table = Table(
      caption: text(.requestsHeading),
      columns: [text(.name), text(.code), text(.asked), text(.actions)])
    for (index, request) in list.requests.enumerated() {
      let id: Markup = "r\(index)"
      table.add([
        who(request.person, id: id), "<code>\(request.code)</code>", .time(request.asked),
        request.person.isProtected ? text(.protected) : requestActions(request, list.groups, id),
      ])
    }
    guard let next = list.nextRequest else { return "\(heading)\n\(table.markup)" }
    return """
      \(heading)
      \(table.markup)
      <p class="buttons"><a class="small" href="\(peopleLink([("requests", next)]).href)" id="more-requests" \
      aria-labelledby="more-requests requests">\(text(.more))</a></p>
      """
  }

  private func requestActions(_ request: PeopleList.Request, _ groups: [String], _ id: Markup) -> Markup {
    let code = [(name: "code", value: request.code)]
    let admit: Markup =
      groups.isEmpty
      ? ""
      : form(.admit, code).markup(
        """
        \(Markup.choice("group", id: "\(id)g", label: text(.group), isHidden: true, of: groups))
        \(Markup.button(text(.admitButton), id: "\(id)a", concerning: id))
        """)
    let reject = form(.reject, code).markup(
      .button(text(.rejectButton), style: "small danger", id: "\(id)x", concerning: id))
    return "<div class=\"buttons\">\(admit)\(reject)</div>"
  }

  private func accounts(_ list: PeopleList) -> Markup {
    let search: Markup = """
      <form class="line" method="get" action="\(peopleLink().href)" role="search">
      \(Markup.field("q", label: text(.searchLabel), kind: "search", value: list.search, limit: 255))
      <button class="small" type="submit">\(text(.searchButton))</button>
      </form>
      """
    var table = Table(
      caption: text(.accountsHeading),
      columns: [text(.name), text(.groups), text(.lastSeen), text(.sessions), text(.actions)])
    for (index, person) in list.people.enumerated() {
      let id: Markup = "p\(index)"
      table.add([
        who(person, id: id), Markup(lines: (person.ban.map { [ban($0)] } ?? []) + person.groups.map(tag)),
        person.lastSeen.map { .time($0) } ?? "", person.lastSeen == nil ? "" : "\(person.sessionCount)",
        """
        <a class="small" href="\(peopleLink([("person", person.subject)]).href)" id="\(id)d" \
        aria-labelledby="\(id)d \(id)">\(text(.detailsButton))</a>
        """,
      ])
    }
    var ways: [Markup] = []
    if let next = list.next {
      let query = (list.search.isEmpty ? [] : [("q", list.search)]) + [("after", next)]
      ways.append("<a class=\"small\" rel=\"next\" href=\"\(peopleLink(query).href)\">\(text(.more))</a>")
    }
    if list.isContinued || !list.search.isEmpty {
      let label = list.search.isEmpty ? text(.firstPage) : text(.showAll)
      ways.append("<a class=\"small\" href=\"\(peopleLink().href)\">\(label)</a>")
    }
    return """
      <h2 id="accounts">\(text(.accountsHeading))</h2>
      \(search)
      \(!list.people.isEmpty ? table.markup : list.next == nil ? "<p>\(text(.nobodyFound))</p>" : "")
      <p class="buttons">\(Markup(lines: ways))</p>
      """
  }

  private func invitations(_ list: PeopleList) -> Markup {
    var table = Table(
      caption: text(.invitationsHeading),
      columns: [text(.group), text(.uses), text(.validUntil), text(.note), text(.actions)])
    for (index, entry) in list.invitations.enumerated() {
      let id: Markup = "i\(index)"
      let revoke = form(.revoke, [("id", entry.id)]).markup(
        .button(text(.revokeButton), style: "small danger", id: "\(id)x", concerning: id))
      table.add([
        "<strong id=\"\(id)\">\(entry.group)</strong>",
        "<span dir=\"ltr\">\(entry.used) / \(entry.uses)</span>", .time(entry.expires),
        entry.note.map { "<bdi>\($0)</bdi>" } ?? "", entry.isRevocable ? revoke : "",
      ])
    }
    let create: Markup =
      list.groups.isEmpty
      ? ""
      : """
      <h3 class="unseen">\(text(.newInvitationHeading))</h3>
      \(form(.invite, [("id", list.newInvitation)]).markup(
        style: "line",
        Markup(lines: [
          .choice("group", id: "group", label: text(.group), of: list.groups),
          .field("uses", label: text(.usesLabel), kind: "number", value: "1", limit: 10_000, isShort: true),
          .field("days", label: text(.daysLabel), kind: "number", value: "7", limit: 365, isShort: true),
          .field("note", label: text(.noteLabel), limit: 200),
          .button(text(.createButton)),
        ])))
      """
    return """
      <h2 id="invitations">\(text(.invitationsHeading))</h2>
      \(list.invitations.isEmpty ? "<p>\(text(.noInvitations))</p>" : table.markup)
      \(create)
      """
  }

  /// The name with the address below it, and a note if Apple has not verified the address.
  private func who(_ person: PersonEntry, id: Markup) -> Markup {
    let other = person.title == person.email ? nil : person.email
    let address: Markup = other.map { "<span class=\"mail\"><bdi>\($0)</bdi></span>" } ?? ""
    let you: Markup = person.isSelf ? " <span class=\"tag\">\(text(.you))</span>" : ""
    return "<strong id=\"\(id)\"><bdi>\(person.title)</bdi></strong>\(you)\(address)\(unverifiedNote(person))"
  }

  /// The note below an address that Apple has not verified. Managers decide by what they see here.
  private func unverifiedNote(_ person: PersonEntry) -> Markup {
    person.isEmailUnverified ? "<span class=\"mail\">\(text(.unverifiedNote))</span>" : ""
  }

  private func tag(_ group: PersonGroup) -> Markup { "<span class=\"tag\">\(group.name)</span>" }

  private func ban(_ ban: PersonBan) -> Markup {
    let words = ban.until.map { text(.bannedUntil(time: $0.text)) } ?? text(.banned)
    return "<span class=\"tag trouble\">\(words)</span>"
  }

  private func facts(_ person: PersonEntry) -> Markup {
    var rows: [(Markup, Markup)] = []
    if let name = person.name, !name.isEmpty { rows.append((text(.name), "<bdi>\(name)</bdi>")) }
    if let email = person.email, !email.isEmpty {
      rows.append((text(.email), "<bdi>\(email)</bdi>\(unverifiedNote(person))"))
    }
    rows.append((text(.identifier), "<code>\(person.subject)</code>"))
    if let lastSeen = person.lastSeen { rows.append((text(.lastSeen), .time(lastSeen))) }
    let lines = rows.map { "<dt>\($0.0)</dt><dd>\($0.1)</dd>" as Markup }
    return "<dl class=\"facts\">\(Markup(lines: lines))</dl>"
  }

  private func groupSection(_ details: PersonDetails) -> Markup {
    let person = details.person
    var table = Table(caption: text(.groupsHeading), columns: [text(.group), text(.actions)])
    for (index, group) in person.groups.enumerated() {
      let id: Markup = "g\(index)"
      let remove =
        group.isRemovable && !person.isProtected
        ? form(.remove, [("person", person.subject), ("group", group.name)]).markup(
          .button(text(.removeButton), style: "small danger", id: "\(id)x", concerning: id))
        : ""
      table.add([
        "<strong id=\"\(id)\">\(group.name)</strong>",
        group.isConfigured ? "<span class=\"mail\">\(text(.configured))</span>" : remove,
      ])
    }
    let add: Markup =
      details.groups.isEmpty || person.isProtected
      ? ""
      : form(.add, [("person", person.subject)]).markup(
        style: "line",
        """
        \(Markup.choice("group", id: "group", label: text(.group), of: details.groups))
        \(Markup.button(text(.addButton), id: "add", concerning: "person"))
        """)
    return """
      <h2>\(text(.groupsHeading))</h2>
      \(person.groups.isEmpty ? "" : table.markup)
      \(add)
      """
  }

  private func sessionSection(_ details: PersonDetails) -> Markup {
    let person = details.person
    guard !details.sessions.isEmpty else {
      return "<h2>\(text(.sessionsHeading))</h2>\n<p>\(text(.noSessions))</p>"
    }
    var table = Table(
      caption: text(.sessionsHeading), columns: [text(.browser), text(.began), text(.lastSeen), text(.actions)])
    for (index, session) in details.sessions.enumerated() {
      let id: Markup = "s\(index)"
      let end = form(.endSession, [("person", person.subject), ("session", session.handle)]).markup(
        .button(text(.endButton), style: "small danger", id: "\(id)x", concerning: id))
      table.add([
        "<span id=\"\(id)\">\(browser(session.userAgent))</span>", .time(session.began), .time(session.lastSeen),
        person.isProtected ? "" : end,
      ])
    }
    let all: Markup =
      person.isProtected
      ? ""
      : """
      <p class="buttons"><a class="small danger" href="\
      \(peopleLink([("person", person.subject), ("ask", PeopleQuestion.endSessions.rawValue)]).href)\
      ">\(text(.endAllButton))</a></p>
      """
    return """
      <h2>\(text(.sessionsHeading))</h2>
      \(table.markup)
      \(all)
      """
  }

  private func banSection(_ person: PersonEntry) -> Markup {
    guard let ban = person.ban else {
      let address = peopleLink([("person", person.subject), ("ask", PeopleQuestion.ban.rawValue)])
      return """
        <h2>\(text(.banButton))</h2>
        <p class="buttons"><a class="small danger" href="\(address.href)" id="ban" \
        aria-labelledby="ban person">\(text(.banButton))</a></p>
        """
    }
    let reason: Markup =
      ban.reason.map { "<p>\(text(.bannedReason(reason: Markup.withoutDirections($0))))</p>" } ?? ""
    let words = ban.until.map { text(.bannedUntil(time: $0.text)) } ?? text(.banned)
    return """
      <h2>\(words)</h2>
      \(reason)
      \(form(.unban, [("person", person.subject)]).markup(
        .button(text(.unbanButton), id: "unban", concerning: "person")))
      """
  }
}
