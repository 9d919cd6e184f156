internal import WebFormats

/// Entries of lists that match nobody, so that a deny list with one would refuse nobody.
enum IneffectiveEntries {
  /// The problem of each list with an empty entry.
  /// - Parameter effect: the effect of such an entry.
  static func empty(_ lists: [(key: String, texts: [String])], effect: String) -> [KeyProblem] {
    lists.filter { $0.texts.contains("") }.map { key, _ in
      KeyProblem(key, "an empty text in a list \(effect)", remedy: "remove it")
    }
  }

  /// The problems of entries that are valid, but not in this list.
  /// - Parameters:
  ///   - subjects: the list of subjects, with its key.
  ///   - emails: the list of addresses, with its key.
  ///   - domains: where a domain belongs.
  static func misplaced(
    subjects: (key: String, texts: [String]), emails: (key: String, texts: [String]), domains: String
  ) -> [KeyProblem] {
    let addresses = subjects.texts.indices.filter { subjects.texts[$0].utf8.contains(UInt8(ascii: "@")) }.map { index in
      KeyProblem(
        subjects.key, entry: index, "entry \(index + 1) of \(subjects.key) is an address, which no subject is",
        remedy: "write it in \(emails.key), or its domain in \(domains)")
    }
    let patterns = emails.texts.indices.filter { isPattern(emails.texts[$0]) }.map { index in
      KeyProblem(
        emails.key, entry: index, "entry \(index + 1) of \(emails.key) has a \"*\", but addresses are not patterns",
        remedy: "write the domain in \(domains)")
    }
    return addresses + patterns
  }

  /// The problems of entries that no identity token has as its subject, because a token with such a subject is refused.
  /// Empty ones and addresses are reported separately.
  static func impossible(_ subjects: (key: String, texts: [String])) -> [KeyProblem] {
    subjects.texts.indices.compactMap { index in
      let text = subjects.texts[index]
      guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "@")), !GroupMember.isSubject(text) else { return nil }
      let flaw =
        text.utf8.contains(0x20)
        ? "a space" : text.utf8.count > 255 ? "more than 255 bytes" : "a character that is not printable ASCII"
      return KeyProblem(
        subjects.key, entry: index, "entry \(index + 1) of \(subjects.key) has \(flaw), which no subject has",
        remedy: "write the subject as `cordon accounts list` shows it")
    }
  }

  /// The problems of addresses or domains with characters that nobody sees. Malformed ones and patterns are reported
  /// separately.
  static func invisible(_ list: (key: String, texts: [String]), isWellFormed: (String) -> Bool) -> [KeyProblem] {
    list.texts.indices.compactMap { index in
      let text = list.texts[index]
      guard EmailAddress.hasInvisibleCharacters(text), isWellFormed(text), !isPattern(text) else { return nil }
      return KeyProblem(
        list.key, entry: index, "entry \(index + 1) of \(list.key) has an invisible character, which no address has",
        remedy: "type it again instead of copying it")
    }
  }

  /// The problems of entries that are neither addresses nor patterns. Empty ones are reported separately.
  static func malformed(_ emails: (key: String, texts: [String]), remedy: String) -> [KeyProblem] {
    emails.texts.indices.compactMap { index in
      let text = emails.texts[index]
      guard !text.isEmpty, !isPattern(text), EmailAddress(text) == nil else { return nil }
      return KeyProblem(
        emails.key, entry: index, "entry \(index + 1) of \(emails.key) is not an address", remedy: remedy)
    }
  }

  private static func isPattern(_ email: String) -> Bool { email.utf8.contains(UInt8(ascii: "*")) }
}
