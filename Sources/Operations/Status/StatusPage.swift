internal import WebFormats

/// `/status` for people: a self-contained page, light and dark, phone and desktop. A script refreshes it every ten
/// seconds; without scripts the browser does.
extension StatusReport {
  /// - Parameter nonce: marks the page's own style and script; letters and digits.
  package func page(nonce: String) -> [UInt8] {
    let html: Markup = """
      <!doctype html>
      <html lang="en" dir="ltr">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      <noscript><meta http-equiv="refresh" content="10"></noscript>
      <title>\(summaryWord) · \(site) · Cordon</title>
      <link rel="icon" href="data:,">
      <style nonce="\(nonce)">\(Markup(stringLiteral: StatusStyle.text))</style>
      </head>
      <body>
      <main id="status">
      \(header)
      \(alerts)
      <div class="cards">
      \(Markup(joining: cards))
      </div>
      <div class="tables">
      \(table("Access", people?.accessRows ?? []))
      \(table("People", people?.rows ?? []))
      \(hostTable)\(upstreamTable)
      \(healthTable)
      \(fileTable)
      </div>
      </main>
      <footer><p id="renewed" aria-live="polite">Renewed every ten seconds. <a href="/status?format=json">JSON</a> · \
      <a href="/metrics">Metrics</a> · <a href="/healthz">Health</a></p></footer>
      <script nonce="\(nonce)">\(Markup(stringLiteral: StatusStyle.script))</script>
      </body>
      </html>

      """
    return Array(html.html.utf8)
  }

  /// The value of `Content-Security-Policy` for a page with this nonce.
  package static func contentSecurityPolicy(nonce: String) -> String {
    "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; connect-src 'self'; img-src data:; "
      + "base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
  }

  private var summaryWord: String {
    switch health.summary {
    case .ok: "All is well"
    case .degraded: "Something is wrong"
    case .failing: "Not ready"
    case .draining: "Stopping"
    }
  }

  private var header: Markup {
    """
    <header><div><p class="product">Cordon</p><h1>\(site)</h1></div>\
    <p class="pill \(health.summary.rawValue)" role="status"><i></i>\(summaryWord)</p>\
    <dl class="facts"><div><dt>Version</dt><dd>\(version)</dd></div><div><dt>Up for</dt>\
    <dd>\(StatusNumbers.duration(now.seconds - started.seconds))</dd></div>\(memory)</dl></header>
    """
  }

  private var memory: Markup {
    process.residentBytes.map { "<div><dt>Memory</dt><dd>\(StatusNumbers.bytes($0))</dd></div>" } ?? ""
  }

  /// The current problems.
  private var alerts: Markup {
    let failing = health.checks.filter { $0.status == .failing }
    guard !failing.isEmpty else { return "" }
    let items = failing.map { check -> Markup in
      "<li><strong>\(check.name)</strong> \(check.message ?? "is failing")</li>"
    }
    return "<ul class=\"alerts\">\(Markup(joining: items))</ul>"
  }

  // MARK: Tables

  /// Empty with a single host, whose name is the heading.
  private var hostTable: Markup {
    guard hosts.count > 1 else { return "" }
    let rows = hosts.map { host -> Markup in
      """
      <tr><th scope="row">\(host.name)<small>\(host.upstream)</small></th>\
      <td class="number">\(StatusNumbers.grouped(host.requests))<small>requests</small></td></tr>
      """
    }
    return table("Hosts", rows)
  }

  private var upstreamTable: Markup {
    let rows = upstreams.map { upstream -> Markup in
      """
      <tr><th scope="row">\(upstream.address)<small>\(upstream.name)</small></th>\
      <td class="number">\(badge(upstream.state))<small>\(StatusNumbers.counted(upstream.failures, "failure")), \
      \(StatusNumbers.counted(upstream.ejections, "ejection"))</small></td></tr>
      """
    }
    return table("Upstreams", rows)
  }

  private func badge(_ state: Upstream.State) -> Markup {
    switch state {
    case .well: #"<span class="badge ok"><i></i>healthy</span>"#
    case .ejected: #"<span class="badge failing"><i></i>ejected</span>"#
    case .failing: #"<span class="badge failing"><i></i>fails its checks</span>"#
    case .unknown: #"<span class="badge"><i></i>no answer yet</span>"#
    }
  }

  private var healthTable: Markup {
    let rows = health.checks.map { check -> Markup in
      let since = check.since.map { "for \(StatusNumbers.duration(now.seconds - $0.seconds))" } ?? ""
      let (kind, words): (Markup, Markup) =
        switch check.status {
        case .ok: ("ok", "ok")
        case .failing: ("failing", "failing")
        // With a message, it is that of results that are too old to say how things are now.
        case .unknown: ("unknown", check.message == nil ? "not checked yet" : "not checked recently")
        }
      return """
        <tr><th scope="row">\(check.name)</th><td><span class="badge \(kind)"><i></i>\(words)</span></td>\
        <td class="number">\(since)</td></tr>
        """
    }
    return table("Health", rows)
  }

  private var fileTable: Markup {
    let rows = files.map { file -> Markup in
      let age = file.changed.map { "changed \(StatusNumbers.duration(now.seconds - $0.seconds)) ago" } ?? ""
      return "<tr><th scope=\"row\">\(file.name)</th><td>\(expiry(file))</td><td class=\"number\">\(age)</td></tr>"
    }
    return table("Certificates and keys", rows)
  }

  private func expiry(_ file: DatedFile) -> Markup {
    guard let expires = file.expires else { return "" }
    let left = expires.seconds - now.seconds
    if left <= 0 { return #"<span class="badge failing"><i></i>expired</span>"# }
    let kind: Markup = left < 14 * 86_400 ? "failing" : "ok"
    return #"<span class="badge \#(kind)"><i></i>\#(StatusNumbers.duration(left)) left</span>"#
  }

  private func table(_ title: String, _ rows: [Markup]) -> Markup {
    guard !rows.isEmpty else { return "" }
    return "<section class=\"table\"><h2>\(title)</h2><table>\(Markup(joining: rows))</table></section>"
  }
}
