import FoundationEssentials
import Gateway

/// Reports as a person reads them: a line a fact.
private func table(_ rows: [(String, String?)]) -> String {
  rows.compactMap { name, value in
    value.map { "\(name)\(String(repeating: " ", count: max(0, 12 - name.count)))  \(printable($0))" }
  }.joined(separator: "\n")
}

extension AccountReport {
  var text: String {
    let flags = [
      emailVerified == true ? nil : "not verified", isPrivateEmail == true ? "Apple's relay" : nil,
    ].compactMap(\.self)
    return table([
      ("subject", subject), ("name", name),
      ("email", email.map { flags.isEmpty ? $0 : "\($0) (\(flags.joined(separator: ", ")))" }),
      ("organization", organization), ("mail", mailForwarding.map { $0 ? "forwarded" : "not forwarded" }),
      ("transfer", transferSubject.map { subject in transferTeam.map { "\(subject), to \($0)" } ?? subject }),
      ("formerly", formerSubject), ("signed in", latestAuthorization), ("verified", lastVerified),
      ("asked", lastAsked), ("last answer", lastAnswer),
      ("groups", groups.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") }),
      ("banned", ban.map { $0.until.map { "until \($0)" } ?? "for good" }), ("reason", ban?.reason),
    ])
  }
}

extension SessionReport {
  var text: String {
    table([
      ("session", handle), ("client", clientID), ("began", began), ("last seen", lastSeen), ("ends", ends),
      ("browser", userAgent),
    ])
  }
}

extension DisconnectionReport {
  var text: String {
    var lines = revocations.map { revocation in
      "\(revocation.clientID): \(revocation.outcome)\(revocation.message.map { ": \(printable($0))" } ?? "")"
    }
    lines.append(
      forgotten
        ? "The user is forgotten; \(ended) session\(ended == 1 ? "" : "s") ended."
        : "Nothing was deleted: fix that and try again, or delete the user anyway with --force.")
    return lines.joined(separator: "\n")
  }
}

/// Prints a report as JSON.
func printJSON(_ report: some Encodable) throws { print(try jsonText(report)) }

/// A report as JSON on several lines.
func jsonText(_ report: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
  return String(decoding: try encoder.encode(report), as: UTF8.self)
}

/// Prints a report as JSON on one line.
func printJSONLine(_ report: some Encodable) throws { print(try jsonLine(report)) }

/// A report as JSON on one line.
func jsonLine(_ report: some Encodable) throws -> String {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(report), as: UTF8.self)
}
