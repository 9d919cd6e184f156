import ArgumentParser
import ConfigurationFile

/// The answer to "Who has access?".
enum AccessChoice: String, CaseIterable, ExpressibleByArgument {
  /// Users who ask for access, once an operator has admitted them. Nobody else: the default.
  case requests
  /// Users whom the answer names.
  case listed
  /// Users with an e-mail address of certain domains.
  case domains
  /// Everybody with an Apple Account.
  case everybody

  /// The line of the question.
  var text: String {
    switch self {
    case .requests: "people who ask for access, once you have admitted them"
    case .listed: "only people whom you name now"
    case .domains: "people with an e-mail address of your domains"
    case .everybody: "everybody with an Apple Account"
    }
  }

  /// The group of admitted users in the written configuration.
  static let group = "members"
}

/// The question, and the part of the configuration that answers it.
extension Interview {
  /// Asks who has access, unless it was given, and for the names that the answer needs.
  /// - Parameters:
  ///   - choice: nil where no option says it; then members and domains say it, if given.
  ///   - members: subjects, addresses and "@" with a domain, separated by commas or spaces.
  mutating func askForAccess(_ choice: AccessChoice?, members: String?, domains: String?) throws {
    let given = choice ?? (members != nil ? .listed : domains != nil ? .domains : nil)
    switch try given ?? chosen() {
    case .requests:
      configuration.set("access.allow_groups", .texts([AccessChoice.group]))
      configuration.set("access.requests", .truth(true))
      admit(
        members: [], comment: "cordon requests list shows who asks; cordon requests admit CODE --group members admits.")
    case .listed:
      configuration.set("access.allow_groups", .texts([AccessChoice.group]))
      admit(
        members: try askForMembers(given: members),
        comment: "Subjects and verified addresses. cordon groups add members ADDRESS adds one without a reload.")
    case .domains:
      try ask(.domains, given: domains)
    case .everybody: break
    }
  }

  private func chosen() throws -> AccessChoice {
    guard let terminal else { return .requests }
    terminal.say("\nWho has access?")
    for (index, choice) in AccessChoice.allCases.enumerated() { terminal.say("  \(index + 1)  \(choice.text)") }
    while true {
      let answer = try terminal.ask("Who has access", default: "1")
      for (index, choice) in AccessChoice.allCases.enumerated() where answer == "\(index + 1)" { return choice }
      terminal.say("  Answer with a number from 1 to \(AccessChoice.allCases.count).")
    }
  }

  private func askForMembers(given: String?) throws -> [String] {
    var given = given
    if given == nil { terminal?.say("\n\(Question.members.explanation)") }
    while true {
      let answer = try given ?? answer(to: .members)
      let members = Self.words(answer)
      var problems = members.compactMap { member in
        MemberCheck.problem(of: member).map { "\"\(printable(member))\" \($0)" }
      }
      // An option may name what Apple is not known to send; somebody who is asked has probably mistyped it.
      if given == nil {
        problems += members.filter(MemberCheck.isUnlikelySubject).map {
          "\"\(printable($0))\" is neither an address nor a subject as Apple's are (001234.0123abcd.5678)"
        }
      }
      if !members.isEmpty, problems.isEmpty { return members }
      try tell(problems.isEmpty ? ["nobody is named; give an address or a subject"] : problems, .members)
      given = nil
    }
  }

  private mutating func admit(members: [String], comment: String) {
    configuration.append(
      "group", [("name", .text(AccessChoice.group)), ("members", .texts(members))], comment: comment)
  }

  /// The words of an answer, between commas and spaces.
  static func words(_ answer: String) -> [String] {
    answer.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") || $0 == 0x09 }
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension Question {
  static let members = Question(
    key: "group.members", option: "--members",
    explanation: """
      Their e-mail addresses as Apple knows them, or their subjects (sub), with spaces
      between. Somebody who hides the address can only be named by subject.
      """,
    prompt: "People", fallback: nil)

  static let domains = Question(
    key: "access.allow_email_domains", option: "--domains",
    explanation: "The domains, as in example.com, with spaces between.", prompt: "Domains", fallback: nil)
}
