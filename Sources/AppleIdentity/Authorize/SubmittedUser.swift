internal import WebFormats

/// The `user` field of an authorization response: a name that the browser submitted, unsigned.
///
/// It was typed into Apple's sheet, or made up by the owner of the browser. After escaping it may be displayed, and
/// must not be used otherwise. The user's e-mail address is the identity token's, never the one in it.
package struct SubmittedUser: Sendable, Equatable {
  /// `name.firstName`, sanitized; `nil` if there was none.
  package let givenName: String?
  /// `name.lastName`, sanitized; `nil` if there was none.
  package let familyName: String?
  /// `email`, if it could be an address. Unverified: only for distinguishing the responses of two people.
  package let claimedEmail: String?

  /// Given and family name with a space between them; `nil` if there is neither.
  package var name: String? {
    let parts = [givenName, familyName].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }

  /// Reads `{"name":{"firstName":…,"lastName":…},"email":…}`; at most 4 KiB, at most 4 levels deep.
  package init(json: some Collection<UInt8>) throws(SubmittedUserError) {
    let user: [String: StrictJSON]
    do throws(StrictJSONError) {
      user = try StrictJSON.object(json, maximumBytes: 4096, maximumDepth: 4)
    } catch {
      throw .unreadable(error.reason)
    }
    self.init(user)
  }

  /// Reads a parsed object.
  init(_ user: [String: StrictJSON]) {
    let parts = user["name"]?.members
    self.init(
      givenName: parts?["firstName"]?.text, familyName: parts?["lastName"]?.text, claimedEmail: user["email"]?.text)
  }

  /// A name from elsewhere than the `user` field, sanitized in the same way.
  package init(givenName: String?, familyName: String?, claimedEmail: String? = nil) {
    self.givenName = givenName.flatMap(DisplayName.sanitized)
    self.familyName = familyName.flatMap(DisplayName.sanitized)
    self.claimedEmail = claimedEmail.flatMap { Self.isAddress($0) ? $0 : nil }
  }

  /// Whether a text can be an address: 3 to 254 bytes (RFC 5321, 4.5.3.1.3) without spaces and control characters.
  private static func isAddress(_ text: String) -> Bool {
    (3...254).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }
}

/// The reason why a `user` field was not used. The sender's fault, and no reason to stop a sign-in.
package enum SubmittedUserError: Error, Sendable, Equatable {
  /// Not JSON of the form that Apple sends, with the reason.
  case unreadable(String)

  /// The problem of the object.
  package var message: String {
    switch self {
    case .unreadable(let reason): "the field user could not be read: \(reason)"
    }
  }
}
