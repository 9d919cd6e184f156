internal import WebFormats

/// The list for managers: people, requests, invitations. Every act is a form that posts to `people`.
extension PageRenderer {
  /// The list of requests, accounts and invitations.
  package func people(_ list: PeopleList) -> RenderedPage {
    page(
      PageFrame(
        title: peopleTitle, formAction: .sameOrigin,
        style: Markup(trusted: Stylesheet.controls) + Markup(trusted: Stylesheet.wide)),
      content: """
        <h1>\(text(.peopleTitle)) <small class="mail">\(applicationName)</small></h1>
        \(notice(list.result))
        \(requests(list))
        \(accounts(list))
        \(invitations(list))
        """)
  }

  /// The page with the link of a new invitation, which is shown this once.
  package func invitationLink(_ address: String) -> RenderedPage {
    page(
      PageFrame(title: text(.linkTitle), style: Markup(trusted: Stylesheet.controls)),
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

  // MARK: Parts of all pages for managers

  /// The title of every page for managers.
  var peopleTitle: Markup {
    text(PageText.failureTitle(heading: texts.text(.peopleTitle), application: applicationName))
  }

  /// The address of the list, or with `person` of one person.
  func peopleLink(_ query: [(name: String, value: String)] = []) -> Link {
    let path = GatewayEndpoint.people.path(below: prefix)
    guard !query.isEmpty else { return Link(path: path) }
    return Link(
      path: path + "?" + query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&"))
  }

  /// The note about the act before; empty without one.
  func notice(_ result: PeopleResult?) -> Markup {
    guard let result else { return "" }
    return result.isDone
      ? "<p class=\"notice\" role=\"status\">\(text(.done(result)))</p>"
      : "<p class=\"notice trouble\" role=\"alert\">\(text(.done(result)))</p>"
  }

  /// The form of an act, without its button.
  func form(_ act: PeopleAct, _ fields: [(name: String, value: String)]) -> Form {
    Form(action: peopleLink(), hidden: [("act", act.rawValue)] + fields)
  }

  /// The state of a banned person, for people.
  func words(about ban: PersonBan) -> Markup {
    ban.until.map { text(.bannedUntil(time: $0.text)) } ?? text(.banned)
  }

  /// The note below an address that Apple has not verified. Managers decide by what they see here.
  func unverifiedNote(_ person: PersonEntry) -> Markup {
    person.isEmailUnverified ? "<span class=\"mail\">\(text(.unverifiedNote))</span>" : ""
  }

  // MARK: Sections of the list

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
      \(form(.invite, [("id", list.newInvitation), ("link", list.newInvitationCode)]).markup(
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

  private func tag(_ group: PersonGroup) -> Markup { "<span class=\"tag\">\(group.name)</span>" }

  private func ban(_ ban: PersonBan) -> Markup { "<span class=\"tag trouble\">\(words(about: ban))</span>" }
}
