internal import WebFormats

/// A mistake in the registration that can be detected without a request to Apple.
package struct AppleSettingsError: Error, Sendable, Equatable {
  /// The key of the configuration: `apple.team_id`, or `public_url` for the redirect URI.
  package let key: String
  /// The problem.
  package let problem: String
  /// The remedy.
  package let remedy: String

  static let baseURL = AppleSettingsError(
    key: "apple.base_url", problem: "it is not an https: origin (http: on loopback only)",
    remedy: "leave it out, except for tests; no trailing slash, no query")
}

extension AppleSettings {
  /// Every problem of the settings and of the redirect URI that follows from `public_url`, by the rules of "Sign in
  /// with Apple" (developer.apple.com). Empty if the settings are valid.
  package static func problems(of settings: AppleSettings, redirectURI: String) -> [AppleSettingsError] {
    let origin = AppleOrigin(settings.baseURL)
    var problems = identifierProblems(of: settings) + responseProblems(of: settings)
    if origin == nil || (origin?.scheme == "http" && origin?.isLoopback == false) {
      problems.append(.baseURL)
    }
    // Against a local Apple the browser may come from anywhere; Apple itself would answer with an error page.
    if origin?.isLoopback != true {
      problems += redirectProblems(of: redirectURI)
    }
    return problems
  }

  private static func identifierProblems(of settings: AppleSettings) -> [AppleSettingsError] {
    var problems: [AppleSettingsError] = []
    if !isTenCharacterIdentifier(settings.teamID) {
      problems.append(
        AppleSettingsError(
          key: "apple.team_id", problem: "a Team ID has ten upper-case letters and digits",
          remedy: "copy it from Membership details in the developer account"))
    }
    if !isTenCharacterIdentifier(settings.keyID) {
      problems.append(
        AppleSettingsError(
          key: "apple.key_id", problem: "a Key ID has ten upper-case letters and digits",
          remedy: "copy it from Keys in the developer account; it is part of the .p8 file's name"))
    }
    problems += clientIDProblems(settings.clientID, key: "apple.client_id", teamID: settings.teamID)
    for clientID in settings.nativeClientIDs {
      problems += clientIDProblems(clientID, key: "apple.native_client_ids", teamID: settings.teamID)
    }
    if Set(settings.nativeClientIDs + [settings.clientID]).count != settings.nativeClientIDs.count + 1 {
      problems.append(
        AppleSettingsError(
          key: "apple.native_client_ids", problem: "a client ID is there twice",
          remedy: "list each App ID once; the Services ID stands in apple.client_id only"))
    }
    return problems
  }

  private static func clientIDProblems(_ clientID: String, key: String, teamID: String) -> [AppleSettingsError] {
    let bytes = Array(clientID.utf8)
    let isIdentifierByte = { (byte: UInt8) in
      byte.isUnreserved && byte != UInt8(ascii: "_") && byte != UInt8(ascii: "~")
    }
    if bytes.isEmpty || bytes.count > 255 || !bytes.allSatisfy(isIdentifierByte) {
      return [
        AppleSettingsError(
          key: key, problem: "a client ID is made of letters, digits, dots and hyphens",
          remedy: "copy the identifier from Identifiers in the developer account, like com.example.web")
      ]
    }
    let team = Array(teamID.utf8)
    if !team.isEmpty, bytes.indices.contains(where: { bytes[$0...].starts(with: team) }) {
      return [
        AppleSettingsError(
          key: key, problem: "a client ID must not contain the Team ID", remedy: "leave out the Team ID and its dot")
      ]
    }
    return []
  }

  private static func isTenCharacterIdentifier(_ text: String) -> Bool {
    text.utf8.count == 10
      && text.utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter && $0 != $0.asciiLowercased }
  }

  private static func responseProblems(of settings: AppleSettings) -> [AppleSettingsError] {
    var problems: [AppleSettingsError] = []
    if !settings.scopes.isEmpty, settings.responseMode != .formPost {
      problems.append(
        AppleSettingsError(
          key: "apple.response_mode", problem: "with any scope it must be form_post",
          remedy: "set it to form_post, or set apple.scopes to []"))
    }
    if settings.responseType == .codeIDToken, settings.responseMode == .query {
      problems.append(
        AppleSettingsError(
          key: "apple.response_mode", problem: "with response_type \"code id_token\" it must be fragment or form_post",
          remedy: "set it to form_post, or set apple.response_type to \"code\""))
    }
    if Set(settings.scopes).count != settings.scopes.count {
      problems.append(
        AppleSettingsError(key: "apple.scopes", problem: "a scope is there twice", remedy: "list each scope once"))
    }
    return problems
  }
}
