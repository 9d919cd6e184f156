/// Rules for forms, tables and lists, also used with a custom stylesheet.
extension Stylesheet {
  /// Buttons, fields, tables and notices.
  static let controls: StaticString = """
    .unseen{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
    .code{display:block;margin:.25rem 0 1rem;font:700 2rem/1.3 ui-monospace,SFMono-Regular,Menlo,Consolas,\
    "DejaVu Sans Mono",monospace;letter-spacing:.06em;user-select:all;overflow-wrap:anywhere;direction:ltr;\
    unicode-bidi:isolate;color:var(--ink,inherit)}
    .notice{margin:0 0 1.5rem;padding:.75rem 1rem;border:1px solid var(--line,#8886);border-inline-start:.25rem solid \
    var(--leaf,currentColor);border-radius:.5rem;text-align:start;color:var(--ink,inherit)}
    .notice.trouble{border-inline-start-color:var(--fruit,currentColor)}
    .link{display:block;padding:.75rem 1rem;border:1px solid var(--line,#8886);border-radius:.5rem;\
    font:.9375rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;user-select:all;\
    overflow-wrap:anywhere;text-align:start;direction:ltr;unicode-bidi:isolate;color:var(--ink,inherit)}
    .field{display:flex;flex-direction:column;gap:.25rem;text-align:start}
    .field label{font-size:.9375rem;font-weight:550}
    .field small{font-size:.8125rem;color:var(--soft,inherit)}
    input,select{width:100%;min-height:2.75rem;padding:.375rem .75rem;border:1px solid var(--soft,#888);\
    border-radius:.5rem;background:transparent;color:inherit;font:inherit}
    select option{color:#1d1f1a;background:#fff}
    .small{display:inline-flex;align-items:center;justify-content:center;min-height:2.25rem;padding:.25rem .875rem;\
    border:1px solid var(--soft,#888);border-radius:.5rem;background:transparent;color:var(--ink,inherit);font:inherit;\
    font-size:.9375rem;font-weight:550;text-decoration:none;cursor:pointer;overflow-wrap:anywhere}
    .small:hover{background:var(--line,#8883)}
    .danger{color:var(--fruit,#b4472f);border-color:currentColor}
    .solid.danger{background:#a63c26;color:#fff}
    .buttons{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
    """

  /// A page with tables: wider, and its text begins at the edge.
  static let wide: StaticString = """
    body>main{align-items:flex-start}
    main>.card{max-width:64rem;padding:2rem 2rem 1.5rem;text-align:start}
    main>.card>.mark{width:4rem;margin:0 0 1rem}
    main>.card p{text-wrap:wrap}
    h2{margin:2.25rem 0 .75rem;font-size:1.1875rem;line-height:1.3;font-weight:650;overflow-wrap:anywhere}
    h2 small{font-weight:400;color:var(--soft,inherit)}
    nav{margin:0 0 1rem}
    nav a,td a{display:inline-block;min-height:1.5rem;color:var(--leaf,inherit);font-weight:550;\
    text-underline-offset:.2em}
    table{width:100%;border-collapse:collapse;font-size:.9375rem;text-align:start}
    table+.buttons,table+form,table+form.line,table+.unseen+form.line{margin-top:1rem}
    th{padding-block:.5rem;padding-inline:0 .75rem;border-bottom:1px solid var(--line,#8886);font-size:.8125rem;font-weight:550;\
    text-align:start;color:var(--soft,inherit);white-space:nowrap}
    td{padding-block:.625rem;padding-inline:0 .75rem;border-bottom:1px solid var(--line,#8886);vertical-align:top}
    td:first-child{min-width:9rem;overflow-wrap:anywhere}
    td:last-child{width:1%}td:last-child .buttons{flex-wrap:nowrap}td:last-child{padding-inline-end:0}
    td .small,td time,td:last-child .mail{white-space:nowrap}
    td code{user-select:all;white-space:nowrap}
    td select{width:auto;min-height:2.25rem;max-width:12rem}
    .mail{display:block;font-size:.875rem;color:var(--soft,inherit)}
    td strong{unicode-bidi:plaintext}
    .tag{display:inline-block;margin:0 0 .25rem;padding:0 .5rem;border:1px solid var(--line,#8886);\
    border-radius:1rem;font-size:.8125rem;line-height:1.6;unicode-bidi:plaintext}
    .tag.trouble{color:var(--fruit,#b4472f);border-color:currentColor}
    .line{display:flex;flex-wrap:wrap;gap:.75rem;align-items:flex-end;margin:0 0 1rem}
    .line .field{flex:1 1 10rem}.line .field.short{flex:0 1 9rem}
    .facts{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.375rem 1.25rem;margin:0 0 1rem}
    .facts dt{color:var(--soft,inherit)}.facts dd{margin:0;overflow-wrap:anywhere}
    @media (max-width:44rem){
    main>.card{padding:1.5rem 0}
    table,tbody,tr,td{display:block}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
    tr{padding:.75rem 0;border-bottom:1px solid var(--line,#8886)}
    td{display:grid;grid-template-columns:7.5rem minmax(0,1fr);gap:.25rem .75rem;padding:.1875rem 0;border:0;\
    overflow-wrap:anywhere}
    td::before{content:attr(data-label);color:var(--soft,inherit);font-size:.875rem}
    td:first-child{grid-template-columns:minmax(0,1fr)}td:first-child::before{content:none}
    td:last-child{width:auto}td:last-child .buttons{flex-wrap:wrap}
    td .small,td time,td:last-child .mail{white-space:normal}
    td:empty{display:none}
    td select{max-width:min(12rem,calc(100vw - 10.75rem))}
    .facts{grid-template-columns:minmax(0,1fr);gap:0}.facts dd{margin:0 0 .5rem}
    }
    """
}
