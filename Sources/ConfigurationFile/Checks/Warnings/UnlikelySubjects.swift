import AccessPolicy

/// Finds texts that count as subjects and do not look like Apple's.
enum UnlikelySubjects {
  static let remedy = "write a subject as `cordon accounts list` shows it, or an address, as in \"ada@example.com\""
  /// In a list of subjects alone.
  private static let subjectRemedy = "write a subject as `cordon accounts list` shows it"

  /// The problem of a list, named by its first such text; nil without one.
  static func problem(of texts: [String], _ context: DecodingContext) -> String? {
    let unlikely = texts.filter(GroupMember.isUnlikelySubject)
    guard let first = unlikely.first else { return nil }
    let shown = context.concealing(first)
    return "\"\(shown)\"\(more(unlikely)) is read as a subject, and does not look like one of Apple's"
  }

  /// The problem of texts of which one looks like the domain of addresses, and its remedy; nil without one.
  static func domainProblem(of texts: [String], _ context: DecodingContext) -> (problem: String, remedy: String)? {
    let domains = texts.filter(GroupMember.isLikelyDomain)
    guard let first = domains.first else { return nil }
    let shown = context.concealing(first)
    return (
      "\"\(shown)\"\(more(domains)) is read as a subject, and looks like a domain",
      "write \"@\(shown)\" if every address of the domain is meant"
    )
  }

  private static func more(_ texts: [String]) -> String { texts.count > 1 ? " (and \(texts.count - 1) more)" : "" }

  static func warnings(_ configuration: Configuration, _ places: DocumentPlaces, _ context: DecodingContext)
    -> [ConfigurationDiagnostic]
  {
    let access = NodePath(ConfigurationSchema.access.name)
    // There is another warning about members that look like a domain.
    var lists = configuration.groups.indices.map {
      (
        GroupChecks.path(at: $0).appending("members"),
        configuration.groups[$0].members.filter { !GroupMember.isLikelyDomain($0) }, remedy
      )
    }
    lists.append((access.appending("allow_subjects"), configuration.access.lists?.subjects ?? [], subjectRemedy))
    lists.append((access.appending("deny_subjects"), configuration.access.conditions.denied.subjects, subjectRemedy))
    for (index, route) in configuration.routes.enumerated() {
      if case .lists(let allowed) = route.access {
        lists.append((places.route(index).appending("allow_subjects"), allowed.subjects, subjectRemedy))
      }
      lists.append((places.route(index).appending("deny_subjects"), route.conditions.denied.subjects, subjectRemedy))
    }
    return lists.compactMap { path, texts, remedy in
      problem(of: texts, context).map { context.warning(atKey: path, $0, remedy: remedy) }
    }
  }
}
