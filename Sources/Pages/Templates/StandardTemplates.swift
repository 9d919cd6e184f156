/// The templates that Cordon comes with. Values stand in three braces: escaped before, they are not to be escaped by
/// other implementations of Mustache, with which tests compare ours.
enum StandardTemplates {
  static func source(_ name: PageTemplates.Name) -> String {
    switch name {
    case .layout: layout
    case .signIn: signIn
    case .signOut: signOut
    case .signedOut: signedOut
    case .failure: failure
    case .repost: repost
    case .fragment: fragment
    case .account: account
    case .question: question
    case .notice: notice
    }
  }

  private static let layout = """
    <!doctype html>
    <html lang="{{{language}}}" dir="{{{direction}}}">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>{{{title}}}</title>
    <link rel="icon" href="{{{icon}}}">
    {{{style}}}
    </head>
    <body>
    <main>
    <div class="card">
    {{{mark}}}
    {{$content}}{{/content}}
    </div>
    </main>
    <footer>
    <p><bdi>{{{host}}}</bdi></p>
    {{#requestID}}<p>{{{requestIDLabel}}} <code>{{{requestID}}}</code></p>{{/requestID}}
    </footer>
    {{{script}}}
    </body>
    </html>

    """

  private static let signIn = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    <p>{{{explanation}}}</p>
    <div class="ways">
    {{{button}}}
    </div>{{/content}}{{/layout}}
    """

  private static let signOut = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    {{#signedInAs}}<p>{{{signedInAs}}}<br><strong><bdi>{{{user}}}</bdi></strong></p>{{/signedInAs}}
    <p>{{{explanation}}}</p>
    <div class="ways">
    <form method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{signOutButton}}}</button>
    </form>
    <a class="quiet" href="{{{stay}}}">{{{stayLabel}}}</a>
    </div>{{/content}}{{/layout}}
    """

  private static let signedOut = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    <p role="status">{{{explanation}}}</p>
    <div class="ways">
    <a class="solid" href="{{{signIn}}}">{{{signInLabel}}}</a>
    </div>{{/content}}{{/layout}}
    """

  private static let failure = """
    {{<layout}}{{$content}}<div role="alert">
    <h1>{{{heading}}}</h1>
    {{#explanation}}<p>{{{explanation}}}</p>{{/explanation}}
    {{#advice}}<p>{{{advice}}}</p>{{/advice}}
    </div>
    {{#signedInAs}}<p>{{{signedInAs}}}<br><strong><bdi>{{{user}}}</bdi></strong></p>{{/signedInAs}}
    {{#request_access}}{{#requestCode}}<p>{{{requestCodeLabel}}}<br>
    <span class="code" aria-hidden="true">{{{requestCode}}}</span><span class="unseen">{{{requestCodeSpelled}}}</span></p>
    {{/requestCode}}<p>{{{requestExplanation}}}</p>
    {{#action}}<form class="ways" method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{requestLabel}}}</button>
    </form>{{/action}}{{/request_access}}
    {{#way}}<div class="ways">
    <a class="{{#request_access}}quiet{{/request_access}}{{^request_access}}solid{{/request_access}}" href="{{{way}}}">{{{wayLabel}}}</a>
    {{#otherWay}}<a class="quiet" href="{{{otherWay}}}">{{{otherWayLabel}}}</a>{{/otherWay}}
    </div>{{/way}}{{/content}}{{/layout}}
    """

  /// Content that is put together elsewhere.
  static let content = "{{<layout}}{{$content}}{{{content}}}{{/content}}{{/layout}}"

  private static let repost = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    <p>{{{explanation}}}</p>
    <form class="ways" method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{continueLabel}}}</button>
    </form>{{/content}}{{/layout}}
    """

  private static let fragment = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    <noscript><p role="alert">{{{scriptNeeded}}}</p>
    <div class="ways">
    <a class="solid" href="{{{again}}}">{{{againLabel}}}</a>
    </div></noscript>
    <div hidden>
    <p>{{{explanation}}}</p>
    <form class="ways" method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{continueLabel}}}</button>
    </form>
    </div>{{/content}}{{/layout}}
    """

  private static let account = """
    {{<layout}}{{$content}}<div class="panel">
    <h1>{{{heading}}}</h1>
    {{#notice}}<p class="notice" role="status">{{{notice}}}</p>{{/notice}}
    <dl class="facts">
    <div><dt>{{{nameLabel}}}</dt><dd><bdi>{{{name}}}</bdi></dd></div>
    <div><dt>{{{emailLabel}}}</dt><dd><bdi>{{{email}}}</bdi>
    {{#emailNote}}<p class="note">{{{emailNote}}}</p>{{/emailNote}}</dd></div>
    {{#groups}}<div><dt>{{{groupsLabel}}}</dt><dd>{{{groups}}}</dd></div>{{/groups}}
    </dl>
    <section aria-labelledby="sessions">
    <h2 id="sessions">{{{sessionsHeading}}}</h2>
    {{{sessions}}}
    {{#moreSessions}}<p class="note">{{{moreSessions}}}</p>{{/moreSessions}}
    {{{endOthers}}}
    </section>
    <div class="panel-end">
    <a class="act" href="{{{signOut}}}">{{{signOutLabel}}}</a>
    <a class="act danger" href="{{{stop}}}">{{{stopLabel}}}</a>
    </div>
    </div>{{/content}}{{/layout}}
    """

  private static let question = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    <p>{{{explanation}}}</p>
    {{#advice}}<p>{{{advice}}}</p>{{/advice}}
    <div class="ways">
    <form method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{confirmButton}}}</button>
    </form>
    <a class="quiet" href="{{{stay}}}">{{{stayLabel}}}</a>
    </div>{{/content}}{{/layout}}
    """

  private static let notice = """
    {{<layout}}{{$content}}<h1>{{{heading}}}</h1>
    <p role="status">{{{explanation}}}</p>
    {{#advice}}<p>{{{advice}}}</p>{{/advice}}
    {{#way}}<div class="ways">
    <a class="solid" href="{{{way}}}">{{{wayLabel}}}</a>
    </div>{{/way}}{{/content}}{{/layout}}
    """
}
