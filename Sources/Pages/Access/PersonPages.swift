internal import WebFormats

/// The page of one person for managers, and the questions before an act. Every act is a form that posts to `people`.
extension PageRenderer {
  /// The page of one person.
  package func person(_ details: PersonDetails) -> RenderedPage {
    let person = details.person
    return page(
      PageFrame(
        title: peopleTitle, formAction: person.isProtected ? .nowhere : .sameOrigin,
        style: Markup(trusted: Stylesheet.controls) + Markup(trusted: Stylesheet.wide)),
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
      PageFrame(title: heading, formAction: .sameOrigin, style: Markup(trusted: Stylesheet.controls)),
      content: """
        <h1>\(heading)</h1>
        <p>\(explanation)</p>
        \(form.markup(style: "ways", "\(fields)\(Markup.button(label, style: "solid danger"))"))
        <div class="ways">
        <a class="quiet" href="\(peopleLink([("person", person.subject)]).href)">\(text(.cancelButton))</a>
        </div>
        """)
  }

  // MARK: Sections

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
        group.membership == .removable && !person.isProtected
        ? form(.remove, [("person", person.subject), ("group", group.name)]).markup(
          .button(text(.removeButton), style: "small danger", id: "\(id)x", concerning: id))
        : ""
      table.add([
        "<strong id=\"\(id)\">\(group.name)</strong>",
        group.membership == .configured ? "<span class=\"mail\">\(text(.configured))</span>" : remove,
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
    let lift: Markup =
      ban.isLiftable
      ? form(.unban, [("person", person.subject)]).markup(
        .button(text(.unbanButton), id: "unban", concerning: "person"))
      : ""
    return """
      <h2>\(words(about: ban))</h2>
      \(reason)
      \(lift)
      """
  }
}
