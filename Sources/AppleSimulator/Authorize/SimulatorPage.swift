/// The common parts of the simulator's pages: a banner says that this is not Apple, and they do not look like Apple's.
struct SimulatorPage {
  let title: String
  /// HTML.
  let body: String
  let script: String?

  var html: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(escapedHTML(title)) · Apple simulator — not Apple</title>
    <style>\(Self.style)</style></head>
    <body><header id="simulator-banner" role="banner"><strong>Apple simulator</strong> — not Apple. \
    Passwords are not asked for and nothing leaves this machine.</header>
    <main>\(body)</main>
    \(script.map { "<script>\($0)</script>" } ?? "")</body></html>
    """
  }

  private static let style = """
    :root { --ground: #f3f1ea; --card: #fffdf8; --ink: #26241f; --soft: #6a655a; --line: #d9d3c4;
      --accent: #0b6b5e; --on-accent: #ffffff; --banner: #f2c230; --on-banner: #2a2410; }
    @media (prefers-color-scheme: dark) {
      :root { --ground: #171a19; --card: #202524; --ink: #ece9e1; --soft: #a5a396; --line: #3a413f;
        --accent: #4fc3ae; --on-accent: #08201c; --banner: #d9a916; --on-banner: #1d1805; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--ground); color: var(--ink);
      font: 16px/1.5 ui-sans-serif, "DejaVu Sans", "Liberation Sans", Verdana, sans-serif; }
    header { background: var(--banner); color: var(--on-banner); padding: .6rem 1rem; text-align: center;
      font-size: .9rem; border-bottom: 3px dashed var(--on-banner); }
    main { max-width: 34rem; margin: 2rem auto; padding: 1.75rem; background: var(--card);
      border: 1px solid var(--line); border-radius: 6px; }
    @media (max-width: 38rem) { main { margin: 0; border: 0; border-radius: 0; padding: 1.25rem; } }
    h1 { margin: 0 0 .25rem; font-size: 1.35rem; line-height: 1.3; overflow-wrap: anywhere; }
    .client { color: var(--accent); }
    .lead, .note, .back, small { color: var(--soft); }
    .lead { margin: 0 0 1.25rem; }
    .back { margin: 1.25rem 0 0; font-size: .85rem; overflow-wrap: anywhere; }
    fieldset { border: 0; margin: 0 0 1.25rem; padding: 0; min-width: 0; }
    legend { padding: 0; margin-bottom: .5rem; font-weight: 700; }
    label.user, label.option { display: flex; align-items: center; gap: .75rem; padding: .55rem .75rem;
      border: 1px solid var(--line); margin-top: -1px; cursor: pointer; }
    label.user:has(:checked), label.option:has(:checked) { border-color: var(--accent); position: relative;
      box-shadow: inset 4px 0 0 var(--accent); }
    label span { flex: 1; min-width: 0; }
    small { display: block; font-size: .85rem; overflow-wrap: anywhere; }
    em { font-style: normal; font-size: .75rem; padding: .1rem .5rem; border: 1px solid var(--line);
      border-radius: 99px; color: var(--soft); }
    input[type=radio] { accent-color: var(--accent); width: 1.1rem; height: 1.1rem; margin: 0; flex: none; }
    .fields { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
    #new-fields { padding: .75rem 0 0; } #new-fields .field:first-child { grid-column: 1 / -1; }
    .fields[hidden] { display: none; }
    .field label { display: block; font-size: .85rem; color: var(--soft); margin-bottom: .2rem; }
    .field input { width: 100%; padding: .5rem .6rem; font: inherit; color: inherit; background: var(--ground);
      border: 1px solid var(--line); border-radius: 4px; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .actions { display: flex; gap: .75rem; justify-content: flex-end; }
    button { font: inherit; font-weight: 700; padding: .6rem 1.4rem; border-radius: 4px; cursor: pointer;
      border: 2px solid var(--accent); background: var(--accent); color: var(--on-accent); }
    button.secondary { background: transparent; color: var(--accent); }
    code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
    table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .35rem .5rem .35rem 0;
      border-bottom: 1px solid var(--line); vertical-align: top; }
    """
}
