/// The rules of the account page, also used with a custom stylesheet: wider than pages with a sentence and a button,
/// with facts and a list of sessions.
enum AccountStylesheet {
  static let text: StaticString = """
    .card:has(.panel){max-width:44rem;padding:2.25rem 2.5rem;text-align:start}
    .card:has(.panel) .mark{width:5rem;margin:0 0 1.25rem}
    .panel p{text-wrap:pretty}
    .panel h2{margin:2.25rem 0 .75rem;font-size:1.1875rem;line-height:1.3;font-weight:650;letter-spacing:-.01em}
    .panel h3{display:flex;flex-wrap:wrap;align-items:baseline;gap:.125rem .5rem;margin:0;font-size:1.0625rem;\
    line-height:1.4;font-weight:600;overflow-wrap:anywhere}
    .panel .note{margin:.25rem 0 0;font-size:.9375rem;line-height:1.5}
    .panel .facts{margin:1.25rem 0 0}
    .panel .facts>div{display:grid;grid-template-columns:10rem 1fr;gap:.25rem 1rem;padding:.75rem 0;\
    border-top:1px solid var(--line,#8886)}
    .panel .facts>div:last-child{border-bottom:1px solid var(--line,#8886)}
    .panel dt{color:var(--soft,inherit)}.panel dd{margin:0;min-width:0;overflow-wrap:anywhere}
    .tags{display:flex;flex-wrap:wrap;gap:.375rem;margin:0;padding:0;list-style:none}
    .tags>li,.badge{padding:.0625rem .625rem;border:1px solid var(--line,#8886);border-radius:1rem;\
    color:var(--ink,inherit);font-size:.875rem;line-height:1.6;overflow-wrap:anywhere}
    .badge{display:inline-block;border-color:currentColor;color:var(--leaf,inherit);font-weight:550;\
    vertical-align:.0625rem}
    .items{margin:0;padding:0;list-style:none;border:1px solid var(--line,#8886);border-radius:.875rem}
    .items>li{display:flex;align-items:center;justify-content:space-between;gap:.75rem 1.25rem;padding:1rem 1.125rem}
    .items>li+li{border-top:1px solid var(--line,#8886)}
    .items>li>:first-child{min-width:0;flex:1}
    .items p{margin:.125rem 0 0;font-size:.9375rem;line-height:1.5}
    .act{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:.375rem 1.125rem;\
    border:1px solid var(--wire,#888);border-radius:.75rem;background:none;color:var(--ink,inherit);font:inherit;\
    font-weight:550;text-align:center;text-decoration:none;cursor:pointer;overflow-wrap:anywhere}
    .act:hover{background:var(--ground,#8882)}.act.danger{border-color:currentColor;color:var(--fruit,#b4472f)}
    .items+form,.note+form{margin-top:.875rem}
    .panel-end{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.75rem;margin-top:2.25rem;\
    padding-top:1.5rem;border-top:1px solid var(--line,#8886)}
    .panel time{white-space:nowrap}
    @media (max-width:30rem){.card:has(.panel){padding:1.5rem 0}.panel .facts>div{grid-template-columns:1fr;gap:0}\
    .items>li{flex-direction:column;align-items:stretch}.items>li>:first-child{flex:none}\
    .panel .act{width:100%}.panel-end{flex-direction:column}}
    """
}
