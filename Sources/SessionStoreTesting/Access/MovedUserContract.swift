import FoundationEssentials
import Sessions

/// Bans of users who have moved to another team, by any of their subjects.
extension StoreContract {
  static let movedUsers = [
    StoreContract("A ban that has moved is lifted by the previous subject, too, unless a manager may not") { stores in
      let (manager, noon) = (try Scenario.manager(), Scenario.noon)
      for hasAccount in [false, true] {
        let name = hasAccount ? "account" : "none"
        let (old, new) = (try Scenario.subject("old.\(name)"), try Scenario.subject("new.\(name)"))
        let transfer = try prepared("transfer.\(name)")
        if hasAccount { _ = try await stores.first.complete(try Scenario.signIn(old)) }
        try await stores.first.ban(old, Scenario.ban())
        try require(try await stores.first.prepare(transfer, of: old, at: noon), "nobody was prepared")
        if hasAccount {
          let move = try await move(old, to: new, in: stores.first, email: nil)
          try requireEqual(try await stores.first.move(move, at: noon), .moved, "what came of the move")
        } else {
          try requireEqual(
            try await stores.first.follow(transfer.subject, to: new, at: noon), .moved, "what the identifier leads to")
        }
        try requireEqual(try await stores.second.unban(old, by: manager, at: noon), .protected, "a manager's lifting")
        try requireEqual(try await stores.second.ban(of: new), Scenario.ban(), "the ban")
        let start = try await stores.second.changes(since: nil, limit: 10).cursor
        try requireEqual(try await stores.second.unban(old, by: "cli", at: noon), .lifted, "the lifting")
        try requireEqual(
          try await stores.second.changes(since: start, limit: 10).changes,
          [.accountChanged(old), .accountChanged(new)], "the changes")
        try requireEqual(try await stores.first.ban(of: new), nil, "the ban afterwards")
        try requireEqual(try await stores.first.unban(old, by: "cli", at: noon), .notBanned, "the second lifting")
      }
    },
    StoreContract("Bans of both subjects of a user who has moved are lifted together by the previous one") { stores in
      let (old, new) = (try Scenario.subject("old"), try Scenario.subject("new"))
      let (manager, noon, transfer) = (try Scenario.manager(), Scenario.noon, try prepared())
      try await stores.first.ban(old, Scenario.ban())
      try require(try await stores.first.prepare(transfer, of: old, at: noon), "nobody was prepared")
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: new, at: noon), .moved, "what the identifier leads to")
      // Again, by one who knows the previous subject only. This ban would follow at the next sign-in.
      try await stores.first.ban(old, Scenario.ban(by: manager))
      try requireEqual(try await stores.second.unban(old, by: manager, at: noon), .protected, "a manager's lifting")
      try requireEqual(try await stores.second.ban(of: old), Scenario.ban(by: manager), "the manager's ban")
      try requireEqual(try await stores.second.unban(old, by: "cli", at: noon), .lifted, "the lifting")
      for subject in [old, new] { try requireEqual(try await stores.first.ban(of: subject), nil, "\(subject)") }
    },
    StoreContract("An operator's ban of an earlier subject holds at once for the account, however often it has moved") {
      stores in
      let noon = Scenario.noon
      for count in 2...4 {
        let subjects = try (1...count).map { try Scenario.subject("user\(count).\($0)") }
        let session = try await stores.first.complete(try Scenario.signIn(subjects[0])).snapshot.session
        let transfers = try await moved(through: subjects, in: stores.first)
        let (old, new) = (subjects[0], subjects[count - 1])
        try await stores.second.ban(old, Scenario.ban(by: try Scenario.manager()))
        try requireEqual(try await stores.first.ban(of: new), nil, "what a manager's ban of an earlier subject does")
        let start = try await stores.second.changes(since: nil, limit: 10).cursor
        let ended = try requireValue(try await stores.first.ban(old, Scenario.ban()), "ban")
        try requireEqual(ended, [old: [], new: [session.handle]], "what it ended")
        let changes = try await stores.second.changes(since: start, limit: 10).changes
        for change in [StoreChange.accountChanged(old), .accountChanged(new), .ended(session.handle, .byOperator)] {
          try require(changes.contains(change), "\(change) is missing")
        }
        try requireEqual(changes.count, 3, "the number of changes")
        try requireEqual(try await stores.second.find(session.handle), nil, "the session")
        try requireEqual(try await stores.second.account(new)?.access.ban, Scenario.ban(), "the ban of the account")
        let short = Scenario.ban(until: Scenario.later(Scenario.day))
        try await stores.second.ban(old, short)
        try requireEqual(try await stores.first.account(new)?.access.ban, short, "the ban in place of the other")
        try requireEqual(try await stores.first.unban(new, by: "cli", at: noon), .lifted, "the lifting")
        for subject in subjects { try requireEqual(try await stores.second.ban(of: subject), nil, "\(subject)") }
        for transfer in transfers {
          try requireEqual(
            try await stores.second.follow(transfer.subject, to: new, at: noon), .nothing, "what it leads to")
        }
      }
    },
    StoreContract("A ban of an earlier subject holds for the first sign-in of a user who moved without an account") {
      stores in
      let (old, new, noon) = (try Scenario.subject("old"), try Scenario.subject("new"), Scenario.noon)
      let transfer = try prepared()
      try await stores.first.ban(old, Scenario.ban())
      try require(try await stores.first.prepare(transfer, of: old, at: noon), "nobody was prepared")
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: new, at: noon), .moved, "what the identifier leads to")
      try requireEqual(try await stores.first.unban(old, by: "cli", at: noon), .lifted, "the lifting")
      try requireEqual(try await stores.second.ban(old, Scenario.ban()), [old: []], "what the next ban ended")
      try requireEqual(try await stores.first.ban(of: new), Scenario.ban(), "the ban of the new subject")
      let account = try await stores.second.complete(try Scenario.signIn(new)).snapshot.account
      try requireEqual(account.access.ban, Scenario.ban(), "the ban of the new account")
    },
    StoreContract("The lifting of a ban follows all moves from any subject of the user, unless a manager may not") {
      stores in
      let (manager, noon) = (try Scenario.manager(), Scenario.noon)
      for place in 0..<4 {
        let subjects = try (0..<4).map { try Scenario.subject("user\(place).\($0)") }
        _ = try await stores.first.complete(try Scenario.signIn(subjects[0]))
        try await stores.first.ban(subjects[0], Scenario.ban())
        _ = try await moved(through: subjects, in: stores.first)
        let named = subjects[place]
        try requireEqual(try await stores.second.unban(named, by: manager, at: noon), .protected, "a manager's lifting")
        try requireEqual(try await stores.second.account(subjects[3])?.access.ban, Scenario.ban(), "the ban")
        try requireEqual(try await stores.second.unban(named, by: "cli", at: noon), .lifted, "the lifting")
        try requireEqual(try await stores.first.account(subjects[3])?.access.ban, nil, "the ban afterwards")
        try requireEqual(try await stores.first.unban(named, by: "cli", at: noon), .notBanned, "the second lifting")
      }
    },
    StoreContract("Bans and their lifting follow a user who has moved back, and end") { stores in
      for names in [["a", "b", "a"], ["d", "e", "f", "d"], ["g", "h", "i", "h"], ["j", "k", "j", "k"]] {
        let subjects = try names.map { try Scenario.subject($0) }
        let last = subjects[subjects.count - 1]
        _ = try await stores.first.complete(try Scenario.signIn(subjects[0]))
        _ = try await moved(through: subjects, in: stores.first)
        for named in subjects {
          let latest = try await stores.second.latestSubject(of: named)
          try requireEqual(latest, named == last ? nil : last, "the latest subject of \(named)")
          try require(try await stores.second.ban(named, Scenario.ban()) != nil, "\(named) was not banned")
          try requireEqual(try await stores.first.account(last)?.access.ban, Scenario.ban(), "the ban by \(named)")
          try requireEqual(
            try await stores.second.unban(named, by: "cli", at: Scenario.noon), .lifted, "the lifting by \(named)")
          for subject in subjects { try requireEqual(try await stores.first.ban(of: subject), nil, "\(subject)") }
        }
      }
    },
    StoreContract("The latest subject of a user is found by each earlier one while there is an account") { stores in
      for count in 2...4 {
        let subjects = try (1...count).map { try Scenario.subject("user\(count).\($0)") }
        let last = subjects[count - 1]
        _ = try await stores.first.complete(try Scenario.signIn(subjects[0]))
        _ = try await moved(through: subjects, in: stores.first)
        for subject in subjects {
          let latest = try await stores.second.latestSubject(of: subject)
          try requireEqual(latest, subject == last ? nil : last, "the latest subject of \(subject)")
        }
        try await stores.first.forget(last, keeping: [], at: Scenario.noon)
        for subject in subjects {
          try requireEqual(try await stores.second.latestSubject(of: subject), nil, "\(subject) after the deletion")
        }
      }
      let (old, new, transfer) = (try Scenario.subject("old"), try Scenario.subject("new"), try prepared())
      try await stores.first.ban(old, Scenario.ban())
      try require(try await stores.first.prepare(transfer, of: old, at: Scenario.noon), "nobody was prepared")
      try requireEqual(
        try await stores.first.follow(transfer.subject, to: new, at: Scenario.noon), .moved,
        "what the identifier leads to")
      try requireEqual(try await stores.second.latestSubject(of: old), nil, "the latest subject without an account")
      _ = try await stores.first.complete(try Scenario.signIn(new))
      try requireEqual(try await stores.second.latestSubject(of: old), new, "the latest subject with an account")
    },
    StoreContract("A sign-in that is late by one move leads no later ban away from the latest subject") { stores in
      let subjects = try ["a", "b", "c"].map { try Scenario.subject($0) }
      _ = try await stores.first.complete(try Scenario.signIn(subjects[0]))
      let transfers = try await moved(through: subjects, in: stores.first)
      try await stores.first.ban(subjects[0], Scenario.ban(by: try Scenario.manager()))
      try requireEqual(
        try await stores.second.follow(transfers[0].subject, to: subjects[1], at: Scenario.noon), .moved,
        "what the first identifier leads to")
      for subject in subjects.prefix(2) {
        try requireEqual(try await stores.first.latestSubject(of: subject), subjects[2], "the latest of \(subject)")
      }
    },
  ]
}
