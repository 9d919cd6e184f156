/// The page at the simulator's own address.
struct WelcomePage {
  var html: String {
    SimulatorPage(
      title: "Welcome",
      body: """
        <h1>A local Apple, for tests and demonstrations</h1>
        <p class="lead">It does what the endpoints of Sign in with Apple do, on this machine and in memory only.</p>
        <table><thead><tr><th scope="col">Address</th><th scope="col">What</th></tr></thead><tbody>
        \(rows.map { "<tr><td><code>\($0.path)</code></td><td>\($0.what)</td></tr>" }.joined(separator: "\n"))
        </tbody></table>
        """,
      script: nil
    ).html
  }

  private let rows: [(path: String, what: String)] = [
    ("/auth/authorize", "where an app sends the browser"),
    ("/auth/token", "codes and refresh tokens for tokens"),
    ("/auth/revoke", "ends a token"),
    ("/auth/keys", "the keys that tokens are signed with"),
    ("/auth/usermigrationinfo", "users who move to another team"),
    ("/appleid/button", "button images"),
    ("<a href=\"/simulator\">/simulator</a>", "the control API: state, users, faults, clock"),
    ("<a href=\"/simulator/requests\">/simulator/requests</a>", "every request that was seen"),
  ]
}
