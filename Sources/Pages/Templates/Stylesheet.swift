/// The stylesheet of all pages: light and dark, phone and desktop, without an external asset.
enum Stylesheet {
  /// The rules for Apple's button, also used with a custom stylesheet.
  static let button: StaticString = """
    :root{--apple:#000;--on-apple:#fff}
    @media (prefers-color-scheme:dark){:root{--apple:#fff;--on-apple:#000}}
    .apple,.apple-image{align-self:center;max-width:100%;border-radius:var(--apple-radius);transition:opacity .15s ease}
    .apple-image{display:block;line-height:0}.apple-image img{max-width:100%;height:auto;\
    border-radius:var(--apple-radius);font-size:1rem;line-height:1.4;color:var(--ink)}
    .apple{box-sizing:border-box;display:grid;grid-auto-flow:column;align-items:center;justify-content:center;width:var(--apple-width);\
    min-height:var(--apple-height);padding:0 .75rem;gap:calc(var(--apple-height)*.17);background:var(--apple);\
    color:var(--on-apple);font-size:var(--apple-font);white-space:nowrap;line-height:1.1;font-weight:500;\
    text-decoration:none;font-family:-apple-system,BlinkMacSystemFont,"SF Pro Text",system-ui,"Segoe UI",Roboto,\
    "Noto Sans",sans-serif}
    .apple svg{display:block;width:auto;height:calc(var(--apple-height)*.46);margin-top:-.1em;fill:currentColor}
    .apple.leading{grid-template-columns:auto 1fr;justify-content:stretch;text-align:center}
    .apple.logo{padding:0}.apple.logo svg{height:calc(var(--apple-height)*.56)}
    .apple.bordered{box-shadow:inset 0 0 0 1px var(--on-apple)}
    .apple:hover,.apple-image:hover{opacity:.86}
    @media (forced-colors:active){.apple{border:1px solid ButtonText}}
    """

  /// Keeps a page out of sight for a moment, because its script leads on at once.
  static let later: StaticString = """
    main{animation:appear .25s ease-out .6s both}
    @keyframes appear{from{opacity:0}}
    @media (prefers-reduced-motion:reduce),(scripting:none){main{animation:none}}
    """

  /// All other rules, which a custom stylesheet replaces.
  static let text: StaticString = """
    :root{color-scheme:light dark;--ground:#f5f3ee;--card:#fff;--ink:#1d1f1a;--soft:#5a5e53;--line:#e3e0d7;\
    --leaf:#3d6b3a;--fruit:#b4472f;--wire:#bdb9ab;--solid:#1d1f1a;--on-solid:#fff}
    @media (prefers-color-scheme:dark){:root{--ground:#121410;--card:#1b1e18;--ink:#eceee6;--soft:#a7ac9e;\
    --line:#2d3129;--leaf:#9dc592;--fruit:#e58a70;--wire:#555b4f;--solid:#eceee6;--on-solid:#171a14}}
    *{box-sizing:border-box}
    html{background:var(--ground);color:var(--ink);-webkit-text-size-adjust:100%;text-size-adjust:100%}
    body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;\
    font:1.0625rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Ubuntu,Cantarell,sans-serif}
    main{flex:1;display:flex;align-items:center;justify-content:center;padding:2rem 1.25rem}
    .card{width:100%;max-width:27rem;padding:2.75rem 2.5rem 2.5rem;background:var(--card);border:1px solid var(--line);\
    border-radius:1.25rem;text-align:center;box-shadow:0 1px 2px rgb(0 0 0/.03),0 1.25rem 3rem -1.5rem rgb(0 0 0/.14)}
    .mark{display:block;width:6.5rem;height:auto;margin:0 auto 1.75rem}
    .wire{stroke:var(--wire)}.tree{stroke:var(--leaf)}.fruit{fill:var(--fruit)}
    h1{margin:0 0 .75rem;font-size:1.5rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;text-wrap:balance;\
    overflow-wrap:anywhere}
    p{margin:0 0 .75rem;color:var(--soft);text-wrap:balance;overflow-wrap:anywhere}
    strong{color:var(--ink);font-weight:600}
    .ways{display:flex;flex-direction:column;gap:.75rem;margin-top:1.75rem}
    .solid{display:flex;align-items:center;justify-content:center;width:100%;min-height:3rem;padding:.5rem 1rem;\
    border:0;border-radius:.75rem;background:var(--solid);color:var(--on-solid);font:inherit;font-weight:600;\
    text-decoration:none;cursor:pointer;transition:opacity .15s ease;overflow-wrap:anywhere}
    .quiet{align-self:center;display:inline-flex;align-items:center;min-height:2.75rem;padding:0 1rem;\
    border-radius:.75rem;color:var(--leaf);font-weight:550;text-decoration:none;overflow-wrap:anywhere}
    .solid:hover{opacity:.86}.quiet:hover{text-decoration:underline;text-underline-offset:.2em}
    :focus-visible{outline:3px solid var(--leaf);outline-offset:3px}
    :lang(ar){letter-spacing:0!important}:lang(ja){word-break:auto-phrase;line-break:strict}:lang(ko){word-break:keep-all}
    form{margin:0}
    footer{padding:0 1.25rem max(1.75rem,env(safe-area-inset-bottom));text-align:center;font-size:.8125rem;\
    color:var(--soft)}
    footer p{margin:0 0 .25rem}
    code{font:.8125rem/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;user-select:all;\
    direction:ltr;unicode-bidi:isolate}
    @media (max-width:30rem){main{padding:1rem 1.25rem}.card{padding:1.5rem 0;background:none;border:0;box-shadow:none}}
    @media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}
    @media (prefers-contrast:more){:root{--soft:var(--ink);--line:var(--ink)}}
    @media (forced-colors:active){.solid{border:1px solid ButtonText}}
    """
}
