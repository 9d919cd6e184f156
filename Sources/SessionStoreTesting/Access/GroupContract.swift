import FoundationEssentials
import Sessions

extension StoreContract {
  static let groups = [
    StoreContract("A member who is added is one at once for the other replica, and after a restart") { stores in
      let (ada, staff) = (try Scenario.subject(), try Scenario.group())
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try require(try await stores.first.add(ada, to: staff, by: "cli", at: Scenario.noon), "it was there")
      try require(try await !stores.second.add(ada, to: staff, by: "token", at: Scenario.noon), "it was not there")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      for store in [stores.second, try await stores.reopen()] {
        try requireEqual(
          try await store.find(session.handle)?.account.access.groups, [staff], "the groups with the session")
        try requireEqual(try await store.account(ada)?.access.groups, [staff], "the groups with the account")
        try requireEqual(
          try await store.accounts(withEmail: "ada@example.com").records().map(\.access.groups), [[staff]],
          "the groups with the address")
        try requireEqual(try await store.groups(of: ada), [staff], "the groups")
      }
    },
    StoreContract("A member who is removed is none at once for the other replica") { stores in
      let (ada, staff, board) = (try Scenario.subject(), try Scenario.group(), try Scenario.group("board"))
      let session = try await stores.first.complete(try Scenario.signIn(ada)).snapshot.session
      for group in [staff, board] { _ = try await stores.first.add(ada, to: group, by: "cli", at: Scenario.noon) }
      let start = try await stores.second.changes(since: nil, limit: 10).cursor
      try require(try await stores.first.remove(ada, from: staff, at: Scenario.noon), "it was not there")
      try require(try await !stores.second.remove(ada, from: staff, at: Scenario.noon), "it was there")
      try requireEqual(
        try await stores.second.changes(since: start, limit: 10).changes, [.accountChanged(ada)], "the changes")
      try requireEqual(try await stores.second.find(session.handle)?.account.access.groups, [board], "the groups")
    },
    StoreContract("A user who is to come is in the group from the first sign-in") { stores in
      let (ada, staff) = (try Scenario.subject(), try Scenario.group())
      _ = try await stores.first.add(ada, to: staff, by: "cli", at: Scenario.noon)
      try requireEqual(try await stores.second.groups(of: ada), [staff], "the groups of an unknown user")
      let completed = try await stores.second.complete(try Scenario.signIn(ada))
      try requireEqual(completed.snapshot.account.access.groups, [staff], "the groups of the new account")
    },
    StoreContract("Groups stay over sign-ins, revalidations and notifications, and are returned with each") { stores in
      let (ada, staff) = (try Scenario.subject(), try Scenario.group())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      _ = try await stores.first.add(ada, to: staff, by: "cli", at: Scenario.noon)
      let again = try await stores.second.complete(try Scenario.signIn(ada, at: Scenario.later(.seconds(60))))
      try requireEqual(again.snapshot.account.access.groups, [staff], "the groups after a sign-in")
      let now = Scenario.later(.seconds(2 * 86_400))
      let lease = try await acquiredLease(ada, at: now, in: stores.first)
      let early = try await stores.second.acquireLease(
        of: ada, preferring: Scenario.web, interval: Scenario.day, now: now)
      try requireEqual(early.notYet?.access.groups, [staff], "the groups of an account that was asked about")
      let recorded = try await stores.first.record(.good(claims: Scenario.claims(), token: nil), of: lease, at: now)
      try requireEqual(recorded.account?.access.groups, [staff], "the groups after a revalidation")
      let notification = AccountNotification(
        identifier: "n", subject: ada, occurred: now,
        change: .mailForwarding(isOn: false, email: nil, isPrivateEmail: nil), message: nil)
      _ = try await stores.first.carryOut(notification, at: now)
      try requireEqual(try await stores.second.account(ada)?.access.groups, [staff], "the groups after a notification")
    },
    StoreContract("Groups and members are listed byte for byte in order, page by page, and counted") { stores in
      let names = ["b", "B", "a-1", "a.1", "A_1", "staff"]
      let groups = try names.map { try Scenario.group($0) }
      let ada = try Scenario.subject()
      for group in groups { _ = try await stores.first.add(ada, to: group, by: "cli", at: Scenario.noon) }
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let sorted = ["A_1", "B", "a-1", "a.1", "b", "staff"]
      try requireEqual(try await stores.second.groups(of: ada).map(\.text), sorted, "the groups")
      try requireEqual(
        try await stores.second.account(ada)?.access.groups.map(\.text), sorted, "the groups of the account")
      let people = try ["Zoe", "adam", "bob", "carl"].map { try Scenario.subject($0) }
      let staff = try Scenario.group()
      for subject in people.reversed() {
        _ = try await stores.first.add(subject, to: staff, by: "cli", at: Scenario.noon)
      }
      var listed: [Subject] = []
      while true {
        let page = try await stores.second.members(of: staff, after: listed.last, limit: 2).records()
        if page.isEmpty { break }
        listed += page
      }
      try requireEqual(listed, [people[0], ada] + people.dropFirst(), "the members")
      let counts = try await stores.second.memberCounts()
      try requireEqual(counts[staff], 5, "the number of members")
      try requireEqual(counts[try Scenario.group("b")], 1, "the number of another group's members")
      try requireEqual(counts.count, 6, "the number of groups")
      try requireEqual(try await stores.second.counts().groupMembers, 10, "the number of memberships")
    },
    StoreContract("Nothing of a forgotten user is left in groups, nor anybody else removed") { stores in
      let (ada, bob, staff) = (try Scenario.subject(), try Scenario.subject("bob"), try Scenario.group())
      for subject in [ada, bob] {
        _ = try await stores.first.complete(try Scenario.signIn(subject))
        _ = try await stores.first.add(subject, to: staff, by: "cli", at: Scenario.noon)
      }
      try await stores.first.forget(ada, keeping: [], at: Scenario.noon)
      try requireEqual(
        try await stores.second.members(of: staff, after: nil, limit: 10).records(), [bob], "the members")
    },
    StoreContract("A forgotten user stays in the groups that are kept, and can be removed from them") {
      stores in
      let (ada, bob) = (try Scenario.subject(), try Scenario.subject("bob"))
      let names = ["left", "lef", "left-1", "LEFT", "staff"]
      for subject in [ada, bob] {
        _ = try await stores.first.complete(try Scenario.signIn(subject))
        for name in names {
          _ = try await stores.first.add(subject, to: try Scenario.group(name), by: "cli", at: Scenario.noon)
        }
      }
      let (left, blocked) = (try Scenario.group("left"), try Scenario.group("blocked"))
      try await stores.first.forget(ada, keeping: [left, blocked], at: Scenario.noon)
      try requireEqual(try await stores.second.account(ada), nil, "the account")
      try requireEqual(try await stores.second.groups(of: ada), [left], "the groups of the forgotten user")
      try requireEqual(try await stores.second.groups(of: bob).count, names.count, "the groups of another user")
      let completed = try await stores.second.complete(try Scenario.signIn(ada))
      try require(completed.isNewAccount, "the account was known")
      try requireEqual(completed.snapshot.account.access.groups, [left], "the groups of the new account")
      try await stores.second.forget(ada, keeping: [left], at: Scenario.noon)
      try require(try await stores.first.remove(ada, from: left, at: Scenario.noon), "it was not there")
      try requireEqual(try await stores.first.groups(of: ada), [], "the groups after it was removed")
    },
    StoreContract("Of 20 calls at once that add one user exactly one has added") { stores in
      let (ada, staff) = (try Scenario.subject(), try Scenario.group())
      _ = try await stores.first.complete(try Scenario.signIn(ada))
      let added = try await stores.concurrently(20) { store, _ in
        try await store.add(ada, to: staff, by: "cli", at: Scenario.noon)
      }
      try requireEqual(added.count { $0 }, 1, "the number of those that added")
    },
    StoreContract("Groups move with the user to another team, and join those of the new subject") { stores in
      let (old, new) = (try Scenario.subject("old"), try Scenario.subject("new"))
      let (staff, board, club) = (try Scenario.group(), try Scenario.group("board"), try Scenario.group("club"))
      _ = try await stores.first.complete(try Scenario.signIn(old))
      for (subject, group) in [(old, staff), (old, board), (new, board), (new, club)] {
        _ = try await stores.first.add(subject, to: group, by: "cli", at: Scenario.noon)
      }
      let move = try await move(old, to: new, in: stores.first, email: nil)
      try requireEqual(try await stores.first.move(move, at: Scenario.noon), .moved, "what came of it")
      try requireEqual(try await stores.second.groups(of: old), [], "the groups of the old subject")
      try requireEqual(
        try await stores.second.account(new)?.access.groups, [board, club, staff], "the groups of the new subject")
    },
  ]
}
