import AccessPolicy
import WebFormats

extension RouteSettings.Access {
  /// Whether this admits users that another refuses. Lists are compared by their entries, not by the members of groups
  /// and domains.
  func admitsMore(than other: RouteSettings.Access) -> Bool {
    switch (self, other) {
    case (.signOut, _), (.deny, _), (_, .signOut), (_, .public), (.signedIn, .signedIn), (.lists, .signedIn): false
    case (.lists(let lists), .lists(let others)): !lists.areContained(in: others)
    case (.public, _), (.signedIn, _), (.lists, .deny): true
    }
  }
}

extension AccessLists {
  /// Whether each entry is also in the other list of its kind.
  fileprivate func areContained(in other: AccessLists) -> Bool {
    let exact = [
      (subjects, other.subjects), (organizations, other.organizations), (groups, other.groups),
    ]
    let folded = [(emails, other.emails), (emailDomains, other.emailDomains)]
    return exact.allSatisfy { own, others in
      let known = Set(others.map { Array($0.utf8) })
      return own.allSatisfy { known.contains(Array($0.utf8)) }
    }
      && folded.allSatisfy { own, others in
        let known = Set(others.map { $0.utf8.map(\.asciiLowercased) })
        return own.allSatisfy { known.contains($0.utf8.map(\.asciiLowercased)) }
      }
  }
}
