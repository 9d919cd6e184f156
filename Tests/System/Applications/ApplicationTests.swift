import Foundation
import TemporaryDirectoryTesting
import Testing

// Examples with real applications, started as they stand in examples/. `make test-applications` runs them; `make test`
// does not, because they need more packages of Debian and PyPI.
//
// - Apache over TLS: CGI programs read REMOTE_USER, redirects stay on https:, WebDAV copies and moves.
// - WordPress over TLS in a real browser, Flask-AppBuilder and Django: one person after another at one browser.
// - git, wget, curl and cadaver with a machine token, at git's own server, cgit, WebDAV and Radicale.
// - DokuWiki by FastCGI, with its users from REMOTE_USER.
// - JupyterLab and Streamlit in a real browser: their WebSockets, and their end.

@SystemActor
@Suite("Real applications")
struct ApplicationTests {
  @Test("Apache's CGI programs read REMOTE_USER, and its redirects and WebDAV work behind TLS")
  func apache() throws {
    let example = try Example("apache-remote-user", scheme: "https")
    defer { example.stop() }
    let tls = try useTLS(example)
    try example.share(["dav"], programs: ["cgi/hello"])
    try example.start(
      Machine.program("apache2", package: "apache2-bin"),
      ["-d", example.path, "-f", "apache.conf", "-D", "FOREGROUND"], listeningOn: 3_000)
    try example.startGateway()
    let cookie = try signIn(example.origin)

    func ask(_ path: String, _ options: String...) throws -> (status: String, text: String) {
      let run = try ServerProcess.run(
        Machine.program("curl", package: "curl"),
        ["-sS", "-i", "--max-time", "50", "--cacert", "\(tls.path)/ca.pem"] + options + [example.origin + path])
      #expect(run.exit == .code(0), "\(run.standardError)")
      let status = run.standardOutput.split(separator: " ").dropFirst().first.map { String($0.prefix(3)) }
      return (status ?? "", run.standardOutput)
    }
    let session = "Cookie: \(cookie)"
    let forged = "Remote-User: mallory"
    let hello = try ask("/hello", "-H", session, "-H", forged, "-H", "Remote_User: mallory").text
    #expect(hello.contains("REMOTE_USER=anna.bergstrom\n") && hello.contains("HTTPS=on"), "\(hello)")
    #expect(try ask("/public/hello", "-H", forged).text.contains("REMOTE_USER=\n"))
    #expect(try ask("/old", "-H", session).text.contains("ocation: \(example.origin)/old/"))
    for (method, name) in [("COPY", "copy.txt"), ("MOVE", "moved.txt")] {
      let source = method == "COPY" ? "/dav/note.txt" : "/dav/copy.txt"
      let answer = try ask(
        source, "-H", session, "-X", method, "-H", "Destination: \(example.origin)/dav/\(name)")
      #expect(answer.status == "201", "\(method): \(answer.text)")
      #expect(try ask("/dav/\(name)", "-H", session).text.contains("shared over WebDAV"))
    }
    #expect(try ask("/dav/copy.txt", "-H", session).status == "404")
  }

  /// Has the gateway speak TLS, with certificates for localhost.
  private func useTLS(_ example: Example) throws -> TLSFolder {
    let tls = try TLSFolder()
    try example.change("gateway.conf") {
      $0.replacing(
        "[upstream]\n",
        with: "tls_certificate_file = \"\(tls.path)/one.pem\"\ntls_private_key_file = \"\(tls.path)/one.key\"\n\n"
          + "[upstream]\n", maxReplacements: 1)
    }
    return tls
  }

  @Test("WordPress over TLS redirects to itself once, and greets nobody who comes later as the one before")
  func wordpress() throws {
    let example = try Example("wordpress", scheme: "https")
    defer { example.stop() }
    let tls = try useTLS(example)
    defer { withExtendedLifetime(tls) {} }
    try example.startApplication(example.origin)
    try example.startGateway()
    let browser = try Browser(acceptsAnyCertificate: true)
    defer { browser.quit() }

    /// Signs in with Apple, from a page that needs it.
    func signIn(as user: String) throws {
      try browser.open(example.origin + "/wp-admin/")
      try browser.click("a[href*='/.auth/authorize']")
      try browser.waitForAddress("Apple's page") { $0.hasPrefix(example.apple.baseURL) }
      try browser.click("#user-\(user)")
      try browser.click("#continue")
      try browser.waitForAddress("WordPress's own log-in") { $0.hasPrefix(example.origin + "/wp-login.php") }
    }
    func logIn(as user: String, _ password: String) throws {
      try browser.waitForText("Remember Me")
      try browser.script("for (const id of ['user_login', 'user_pass']) document.getElementById(id).value = ''")
      try browser.type(user, into: "#user_login")
      try browser.type(password, into: "#user_pass")
      try browser.click("#wp-submit")
      try browser.waitForAddress("WordPress's dashboard") { $0 == example.origin + "/wp-admin/" }
      try browser.waitForText("Howdy, \(user)")
    }
    try signIn(as: "anna")
    try logIn(as: "anna", "annas roses")
    let cookie = try #require(try browser.cookies()["wordpress_logged_in_site"]?["value"] as? String)
    #expect(try browser.cookies()["wordpress_site"] == nil && browser.cookies()["wordpress_sec_site"] != nil)

    // Anna signs out of the gateway only.
    try browser.open(example.origin + "/.auth/sign-out")
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    let left = try browser.cookies()
    #expect(left["wordpress_logged_in_site"] == nil)
    try signIn(as: "ben")
    #expect(try !browser.visibleText().contains("Howdy"))
    // Her cookie in another's hands is worth nothing.
    try browser.script("document.cookie = 'wordpress_logged_in_site=' + arguments[0] + '; Path=/; Secure'", [cookie])
    #expect(try browser.cookies()["wordpress_logged_in_site"]?["value"] as? String == cookie)
    try browser.open(example.origin + "/")
    try browser.waitForText("Allotment club")
    #expect(try !browser.visibleText().contains("Howdy"))
    try browser.open(example.origin + "/wp-login.php")
    try logIn(as: "ben", "bens beans")

    // Anna again, without Ben's signing out.
    try browser.open(example.origin + "/.auth/authorize?return_to=%2Fwp-admin%2F")
    try browser.click("#user-anna")
    try browser.click("#continue")
    try browser.waitForAddress("WordPress's own log-in") { $0.hasPrefix(example.origin + "/wp-login.php") }
    #expect(try browser.cookies()["wordpress_sec_site"] == nil)
  }

  @Test("Flask-AppBuilder, which reads the user once for each of its sessions, never takes Ben for Anna")
  func flask() throws {
    let example = try Example("flask-remote-user")
    defer { example.stop() }
    try example.start(
      Machine.pythonProgram("gunicorn"), ["--bind", "127.0.0.1:\(example.port(3_000))", "app:app"],
      listeningOn: 3_000, by: .seconds(90))
    try example.startGateway()
    let (visitor, page) = try example.signedIn(as: "anna", at: "/me/")
    #expect(page.text == "You are anna.bergstrom@example.com", "\(page.text)")
    let session = try #require(visitor.jar.cookies.first { $0.name == "session" })
    #expect(try example.signIn(visitor, as: "ben", at: "/me/").text == "You are ben@example.org")
    // Anna's session, should it have stayed in the browser.
    visitor.jar.set(session)
    #expect(try visitor.open(example.origin + "/me/").text == "You are ben@example.org")
    // Nobody is anybody by a header of the client's own.
    let forged = try visitor.fetch(example.origin + "/me/", fields: [("Remote-User", "mallory"), ("Remote_User", "m")])
    #expect(!forged.text.contains("mallory"))
    let signOut = try visitor.fetch(
      example.origin + "/.auth/sign-out", method: "POST", fields: [("Origin", example.origin)])
    #expect([200, 204, 303].contains(signOut.status) && visitor.jar["session"] == nil)
  }

  @Test("Django's administration pages work for the administrator, and for nobody else at the same browser")
  func django() throws {
    let example = try Example("django", scheme: "https")
    defer { example.stop() }
    let migration = try ServerProcess.run(
      Machine.program("python3", package: "python3"), ["club.py", "migrate", "--verbosity", "0"],
      directory: example.path, by: .seconds(120))
    #expect(migration.exit == .code(0), "\(migration.standardError)")
    try example.start(
      Machine.program("gunicorn", package: "gunicorn"),
      ["--bind", "127.0.0.1:\(example.port(3_000))", "club:application"],
      listeningOn: 3_000, by: .seconds(90))
    // TLS ends before the gateway here.
    try example.startGateway()
    let (visitor, page) = try example.signedIn(as: "anna")
    #expect(page.text == "You are anna.bergstrom@example.com, secure: True", "\(page.text)")
    #expect(try visitor.fetch(example.origin + "/static/admin/css/base.css").status == 200)
    try visitor.open(example.origin + "/admin/auth/group/add/")
    let form = try #require(visitor.page?.forms.first { $0.inputs.contains { $0.0 == "name" } })
    // Django compares the Referer over https:, which browsers send.
    let address = example.origin + "/admin/auth/group/add/"
    let saved = try visitor.fetch(
      address, method: "POST", fields: [("Origin", example.origin), ("Referer", address)],
      form: FormEncoding.encode(form.filling(["name": "gardeners"]).inputs + [("_save", "Save")]))
    #expect(saved.status == 302, "\(saved.text)")
    #expect(try visitor.open(example.origin + "/admin/auth/group/").text.contains("gardeners"))
    let session = try #require(visitor.jar.cookies.first { $0.name == "sessionid" })

    #expect(try example.signIn(visitor, as: "ben").text.contains("You are ben@example.org"))
    for _ in 0..<2 {
      let refused = try visitor.open(example.origin + "/admin/auth/group/")
      #expect(refused.address.path == "/admin/login/" && !refused.text.contains("gardeners"))
      visitor.jar.set(session)
    }
  }

  @Test("git, wget, curl and cadaver work with a machine token, and without one never get a page for a file")
  func davAndGit() throws {
    let example = try Example("dav-and-git")
    defer { example.stop() }
    try example.startApplication()
    try example.waitForListener(on: 3_001)
    try example.startGateway()
    let made = try ServerProcess.run(
      Machine.binary("cordon"),
      ["tokens", "create", "--config", "gateway.conf", "--name", "backup", "--group", "machines"],
      directory: example.path)
    let token = String(try #require(made.standardOutput.firstMatch(of: /cdn_[A-Za-z0-9_-]{43}/), "\(made)").output)

    // Each client in a home of its own.
    let home = try TemporaryDirectory()
    func run(_ program: String, _ arguments: [String]) throws -> (ServerProcess.Exit, String) {
      let run = try ServerProcess.run(
        Machine.program(program, package: program), arguments,
        environment: ["HOME": home.path, "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1"],
        directory: home.path, by: .seconds(90))
      return (run.exit, run.standardOutput + run.standardError)
    }
    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(home.path)/\(name)")) }
    let note = example.origin + "/dav/note.txt"
    let withToken = example.origin.replacing("://", with: "://token:\(token)@")

    // Without a token: 401, a challenge and no file.
    for arguments in [[], ["--user=token", "--password=cdn_" + String(repeating: "a", count: 43)]] {
      let (exit, _) = try run("wget", ["--quiet", "--tries=1", "--output-document=got", note] + arguments)
      #expect(exit == .code(6))
      #expect(try read("got").isEmpty)
    }
    let (_, refused) = try run("curl", ["-si", note])
    #expect(refused.hasPrefix("HTTP/1.1 401") && refused.contains("WWW-Authenticate: Basic realm="), "\(refused)")
    #expect(!refused.contains("<html") && !refused.contains("ocation:"))
    let (exit, said) = try run("git", ["clone", example.origin + "/git/club.git", "refused"])
    #expect(exit != .code(0) && said.contains("could not read Username"), "\(said)")

    // With it: a clone, a push of three megabytes (git sends them in chunks), another clone.
    for arguments in [
      ["clone", withToken + "/git/club.git", "first"], ["-C", "first", "checkout", "-b", "main"],
      ["-C", "first", "config", "user.email", "anna@example.com"], ["-C", "first", "config", "user.name", "Anna"],
    ] { #expect(try run("git", arguments).0 == .code(0), "\(arguments)") }
    var bytes = [UInt8](repeating: 0, count: 3_000_000)
    for index in bytes.indices { bytes[index] = .random(in: 0...255) }
    try Data(bytes).write(to: URL(fileURLWithPath: "\(home.path)/first/big"))
    for arguments in [
      ["-C", "first", "add", "big"], ["-C", "first", "commit", "-m", "Add seeds"],
      ["-C", "first", "push", "origin", "main"], ["clone", withToken + "/git/club.git", "second"],
    ] {
      let (exit, said) = try run("git", arguments)
      #expect(exit == .code(0), "\(arguments): \(said)")
    }
    #expect(try Array(read("second/big")) == bytes)
    let (person, page) = try example.signedIn(as: "anna", at: "/club.git/log/")
    #expect(page.text.contains("Add seeds"), "\(page.text)")
    #expect(try example.signedIn(as: "ben").page.status == 403)

    // Files: wget, curl without a length, cadaver.
    #expect(try run("wget", ["-q", "-O", "got", "--user=token", "--password=\(token)", note]).0 == .code(0))
    #expect(try String(decoding: read("got"), as: UTF8.self).contains("shared over WebDAV"))
    let upload = ["-u", "token:\(token)", "-H", "Transfer-Encoding: chunked", "-T", "first/big"]
    #expect(try run("curl", ["-sf"] + upload + [example.origin + "/dav/big"]).0 == .code(0))
    try home.write("machine localhost login token password \(token)\n", to: ".netrc")
    try home.write(
      "mkcol papers\ncopy big papers/one\nmove big papers/two\nlock papers/one\nunlock papers/one\nput first/big three\n"
        + "get papers/two back\ndelete three\nls papers\nquit\n", to: ".cadaverrc")
    let (_, session) = try run("cadaver", [example.origin + "/dav/"])
    #expect(!session.contains("failed") && session.contains("succeeded"), "\(session)")
    #expect(try Array(read("back")) == bytes, "\(session)")

    // Radicale: the program makes a calendar and puts an event into it without a length; Anna reads it.
    let calendar = example.origin + "/radicale/club/events/"
    let event =
      ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//example", "BEGIN:VEVENT", "UID:1", "SUMMARY:Seed swap"]
      + ["DTSTAMP:20260101T000000Z", "DTSTART:20260101T000000Z", "END:VEVENT", "END:VCALENDAR", ""]
    try home.write(event.joined(separator: "\r\n"), to: "event.ics")
    let login = ["-sS", "-f", "-u", "token:\(token)"]
    #expect(try run("curl", login + ["-X", "MKCALENDAR", calendar]).0 == .code(0))
    let put = ["-H", "Transfer-Encoding: chunked", "-H", "Content-Type: text/calendar", "-T", "event.ics"]
    #expect(try run("curl", login + put + [calendar + "1.ics"]).0 == .code(0))
    #expect(try person.fetch(calendar + "1.ics").text.contains("Seed swap"))
    let (_, list) = try run("curl", login + ["-X", "PROPFIND", "-H", "Depth: 1", calendar])
    #expect(list.contains("<href>/radicale/club/events/1.ics</href>"), "\(list)")
    // A client that knows only the host is led there, whatever Depth it asks with.
    let (_, found) = try run(
      "curl", ["-si", "-u", "token:\(token)", "-X", "PROPFIND", example.origin + "/.well-known/caldav"])
    #expect(found.hasPrefix("HTTP/1.1 302") && found.contains("/radicale/"), "\(found)")
    // The event moves to another calendar.
    let other = example.origin + "/radicale/club/past/"
    #expect(try run("curl", login + ["-X", "MKCALENDAR", other]).0 == .code(0))
    let move = ["-X", "MOVE", "-H", "Destination: \(other)1.ics", calendar + "1.ics"]
    #expect(try run("curl", login + move).0 == .code(0))
    #expect(try person.fetch(other + "1.ics").text.contains("Seed swap"))
    #expect(try person.fetch(calendar + "1.ics").status == 404)
  }

  @Test("DokuWiki behind nginx and PHP-FPM knows its users from REMOTE_USER, by local part and name")
  func fastCGI() throws {
    let example = try Example("fastcgi-behind-nginx", scheme: "https")
    defer { example.stop() }
    try example.startApplication()
    try example.waitForListener(on: 3_001)
    // TLS ends before the gateway here.
    try example.startGateway()
    let (visitor, page) = try example.signedIn(as: "anna", at: "/doku.php?id=seeds&do=edit")
    #expect(page.address.target == "/doku.php?id=seeds&do=edit")
    #expect(page.text.contains("<bdi>Anna Bergström</bdi> (<bdi>anna.bergstrom</bdi>)"), "\(page.text)")
    let form = try #require(page.forms.first { $0.inputs.contains { $0.0 == "changecheck" } })
    let saved = try visitor.submit(form.filling(["wikitext": "Beans and peas"]), button: ("do[save]", "1"))
    #expect(saved.status == 200 && saved.text.contains("Beans and peas"), "\(saved.address): \(saved.text)")
    #expect(try visitor.open(example.origin + "/doku.php?id=start&do=admin").text.contains("Configuration"))
    // The manifest, which browsers fetch without cookies.
    #expect(try Visitor().fetch(example.origin + "/lib/exe/manifest.php").status == 200)

    // Ben's address is of another domain: nobody. Eleni's name is Greek.
    for forged in ["Remote-User", "Remote_User", "X-Remote-User"] {
      let ben = try example.signedIn(as: "ben", at: "/doku.php?id=seeds").visitor
      let refused = try ben.fetch(example.origin + "/doku.php?id=seeds", fields: [(forged, "anna.bergstrom")])
      #expect(!refused.text.contains("Beans") && !refused.text.contains("Anna"), "\(forged)")
    }
    let eleni = try example.signIn(visitor, as: "eleni", at: "/doku.php?id=seeds")
    #expect(eleni.text.contains("Ελένη Παπαδοπούλου") && eleni.text.contains("Beans and peas"), "\(eleni.text)")
    #expect(!eleni.text.contains("do=admin"))
  }

  @Test("Code runs in JupyterLab and Streamlit calculates in a real browser, until the user signs out")
  func jupyterAndStreamlit() throws {
    let example = try Example("jupyter-streamlit")
    defer { example.stop() }
    let programs = URL(fileURLWithPath: try Machine.pythonProgram("jupyter-lab")).deletingLastPathComponent().path
    try example.startApplication(environment: ["PATH": "\(programs):/usr/bin:/bin"])
    try example.waitForListener(on: 3_001)
    try example.startGateway()
    let charts = "http://charts.localhost:\(example.port(8_080))"
    let browser = try Browser()
    defer { browser.quit() }

    try browser.open(example.origin + "/lab")
    try browser.click("a[href*='/.auth/authorize']")
    try browser.click("#user-anna")
    try browser.click("#continue")
    try browser.waitForAddress("JupyterLab") { $0.hasPrefix(example.origin + "/lab") }
    try browser.waitForText("Launcher", by: .seconds(120))
    // A kernel, and what it prints, as JupyterLab's own script asks for them.
    let printed = try browser.script(
      """
      const xsrf = document.cookie.match(/_xsrf=([^;]*)/)?.[1] ?? '';
      return fetch('/api/kernels', {method: 'POST', headers: {'X-XSRFToken': xsrf}, body: '{"name": "python3"}'})
        .then(answer => answer.json())
        .then(kernel => new Promise((resolve, reject) => {
          const socket = window.kernel = new WebSocket(`ws://${location.host}/api/kernels/${kernel.id}/channels`);
          const header = {msg_id: '1', username: '', session: '1', msg_type: 'execute_request', version: '5.3'};
          const content = {code: 'print(6 * 7)', silent: false};
          socket.onopen = () => socket.send(JSON.stringify(
            {header, parent_header: {}, metadata: {}, channel: 'shell', content}));
          socket.onmessage = message => {
            const {msg_type, content} = JSON.parse(message.data);
            if (msg_type == 'stream') resolve(content.text);
          };
          socket.onclose = event => { window.closed = event.code; reject(event.code); };
        }));
      """)
    #expect(printed as? String == "42\n")

    // Streamlit, on the other host, without another sign-in.
    let tabs = try browser.openTab()
    try browser.open(charts + "/")
    try browser.waitForText("Hello, Anna Bergström", by: .seconds(90))
    try browser.waitForText("36 kilograms of potatoes")
    try browser.click("[data-testid='stNumberInputStepUp']")
    try browser.waitForText("48 kilograms of potatoes")

    try browser.open(charts + "/.auth/sign-out")
    try browser.click("form[action*='sign-out'] button")
    try browser.waitForText("signed out")
    try browser.switchTo(tabs.old)
    _ = try poll("the kernel's WebSocket to end") { try browser.script("return window.closed") as? Int }

    // Ben may see the charts, and run nothing.
    let (ben, page) = try example.signedIn(as: "ben")
    #expect(page.status == 403)
    #expect(try ben.open(charts + "/").status == 200)
    let kernel = try ben.fetch(
      example.origin + "/api/kernels", method: "POST", fields: [("Origin", example.origin)], form: "{}")
    #expect(kernel.status == 403)
  }

  /// Signs Anna in over TLS; returns the session's cookie.
  private func signIn(_ origin: String) throws -> String {
    let folder = Machine.packageRoot.appending(path: "Benchmarks").path
    let run = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", "import sys; sys.path.insert(0, sys.argv[1]); import sign_in; print(sign_in.sign_in(sys.argv[2]))"]
        + [folder, origin])
    guard run.exit == .code(0) else { throw HarnessError.malformed(run.standardError) }
    return run.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
