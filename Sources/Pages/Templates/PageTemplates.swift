import Mustache

/// The templates, parsed once. Every value arrives as ``Markup``, escaped already: that is why each stands in three
/// braces, and why a test refuses two.
struct PageTemplates: Sendable {
  enum Name: String, CaseIterable {
    case layout, signIn, signOut, signedOut, failure, repost, fragment
  }

  private let library: MustacheLibrary

  /// - Throws: the parser's complaint, if one of the templates is no template.
  init() throws {
    var library = MustacheLibrary()
    for name in Name.allCases { try library.register(Self.source(name), named: name.rawValue) }
    self.library = library
  }

  /// Fills a template in. A value that is not there is an empty text, and its section is left out.
  func render(_ name: Name, _ values: [String: Markup]) -> [UInt8] {
    Array((library.render(values.mapValues(\.html), withTemplate: name.rawValue) ?? "").utf8)
  }

  static func source(_ name: Name) -> String {
    switch name {
    case .layout: layout
    case .signIn: signIn
    case .signOut: signOut
    case .signedOut: signedOut
    case .failure: failure
    case .repost: repost
    case .fragment: fragment
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
    <style nonce="{{{nonce}}}">
    {{{style}}}
    </style>
    </head>
    <body>
    <main>
    <div class="card{{$cardClass}}{{/cardClass}}">
    {{{mark}}}
    {{$content}}{{/content}}
    </div>
    </main>
    <footer>
    <p><bdi>{{{host}}}</bdi></p>
    {{#requestID}}<p>{{{requestIDLabel}}} <code>{{{requestID}}}</code></p>{{/requestID}}
    </footer>
    {{$script}}{{/script}}
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
    <input type="hidden" name="return_to" value="{{{returnTo}}}">
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
    <p>{{{explanation}}}</p>
    {{#advice}}<p>{{{advice}}}</p>{{/advice}}
    </div>
    {{#way}}<div class="ways">
    <a class="solid" href="{{{way}}}">{{{wayLabel}}}</a>
    {{#otherWay}}<a class="quiet" href="{{{otherWay}}}">{{{otherWayLabel}}}</a>{{/otherWay}}
    </div>{{/way}}{{/content}}{{/layout}}
    """

  private static let repost = """
    {{<layout}}{{$cardClass}} later{{/cardClass}}{{$content}}<h1>{{{heading}}}</h1>
    <p>{{{explanation}}}</p>
    <form class="ways" method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{continueLabel}}}</button>
    </form>{{/content}}{{$script}}<script nonce="{{{nonce}}}">document.forms[0].submit()</script>{{/script}}{{/layout}}
    """

  /// The script takes the answer out of the address and of the history before it posts it: it is not to be seen there.
  private static let fragment = """
    {{<layout}}{{$cardClass}} later{{/cardClass}}{{$content}}<h1>{{{heading}}}</h1>
    <noscript><p role="alert">{{{scriptNeeded}}}</p></noscript>
    <p>{{{explanation}}}</p>
    <form class="ways" method="post" action="{{{action}}}">
    {{{fields}}}
    <button class="solid" type="submit">{{{continueLabel}}}</button>
    </form>{{/content}}{{$script}}<script nonce="{{{nonce}}}">
    const form = document.forms[0];
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const field = document.createElement('input');
      field.type = 'hidden';
      field.name = name;
      field.value = value;
      form.append(field);
    }
    history.replaceState(null, '', location.pathname);
    form.submit();
    </script>{{/script}}{{/layout}}
    """
}
