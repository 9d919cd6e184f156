/// Style and script of the status page.
enum StatusStyle {
  static let text = """
    :root{color-scheme:light dark;--ground:#f5f3ee;--card:#fff;--ink:#1d1f1a;--soft:#5a5e53;--line:#e3e0d7;\
    --leaf:#3d6b3a;--fruit:#b4472f;--pale:#3d6b3a1f;--warn:#8a6100}
    @media (prefers-color-scheme:dark){:root{--ground:#121410;--card:#1b1e18;--ink:#eceee6;--soft:#a7ac9e;\
    --line:#2d3129;--leaf:#9dc592;--fruit:#e58a70;--pale:#9dc59226;--warn:#e0bb62}}
    *{box-sizing:border-box}
    html{background:var(--ground);color:var(--ink);-webkit-text-size-adjust:100%;text-size-adjust:100%}
    body{margin:0;font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Ubuntu,Cantarell,sans-serif}
    main{max-width:72rem;margin:0 auto;padding:2rem 1.25rem 1rem}
    header{display:flex;flex-wrap:wrap;align-items:flex-end;gap:.75rem 1.5rem;margin-bottom:1.5rem}
    .product{margin:0;font-size:.8125rem;font-weight:600;letter-spacing:.06em;text-transform:uppercase;color:var(--leaf)}
    h1{margin:0;font-size:1.625rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;overflow-wrap:anywhere}
    h2{margin:0;font-size:.8125rem;font-weight:600;color:var(--soft)}
    i{display:inline-block;width:.5rem;height:.5rem;margin-inline-end:.5em;border-radius:50%;background:currentColor}
    .pill{margin:0;padding:.25rem .875rem;border:1px solid;border-radius:2rem;font-weight:600;color:var(--leaf);\
    background:var(--card)}
    .pill.degraded,.pill.draining{color:var(--warn)}.pill.failing{color:var(--fruit)}
    .facts{display:flex;flex-wrap:wrap;gap:.25rem 1.75rem;margin:0 0 0 auto}
    dt{font-size:.75rem;color:var(--soft)}dd{margin:0;font-variant-numeric:tabular-nums}
    .alerts{margin:0 0 1.25rem;padding:.875rem 1.25rem;list-style:none;border:1px solid var(--fruit);\
    border-radius:.875rem;background:var(--card)}
    .alerts strong{color:var(--fruit);margin-inline-end:.5em}.alerts li{overflow-wrap:anywhere}
    .cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(17.5rem,1fr));gap:1rem}
    .card,.table{padding:1.125rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.875rem}
    .value{margin:.125rem 0 .5rem;color:var(--soft)}
    .value strong{font-size:1.75rem;line-height:1.2;font-weight:650;letter-spacing:-.02em;color:var(--ink);\
    font-variant-numeric:tabular-nums}
    .bad .value strong{color:var(--fruit)}
    .plot{display:block;width:100%;height:3.75rem}
    .base{fill:none;stroke:var(--line);vector-effect:non-scaling-stroke}
    .line{fill:none;stroke:var(--leaf);stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round;\
    vector-effect:non-scaling-stroke}
    .line.trouble{stroke:var(--fruit)}.line.beside{stroke:var(--soft);stroke-dasharray:5 3}.area{fill:var(--pale)}
    .legend{display:flex;flex-wrap:wrap;gap:.125rem 1rem;min-height:1.125rem;margin:.5rem 0 0;padding:0;list-style:none;\
    font-size:.75rem;color:var(--soft)}
    .legend i{width:1rem;height:0;border-top:2px solid var(--leaf);border-radius:0;background:none;vertical-align:middle}
    .legend .trouble{border-color:var(--fruit)}.legend .beside{border-top:2px dashed var(--soft)}
    .legend .top{margin-inline-start:auto;font-variant-numeric:tabular-nums}
    .axis{display:flex;justify-content:space-between;margin:.25rem 0 0;font-size:.6875rem;color:var(--soft)}
    .note{margin:.375rem 0 0;font-size:.8125rem;color:var(--soft)}
    .tables{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,21rem),1fr));gap:1rem;margin-top:1rem;\
    align-items:start}
    table{width:100%;margin-top:.375rem;border-collapse:collapse;font-size:.875rem}
    tr+tr>*{border-top:1px solid var(--line)}
    th,td{padding:.5rem 0;text-align:start;font-weight:400;vertical-align:baseline}
    th{overflow-wrap:anywhere;padding-inline-end:.75rem}td{padding-inline-start:.5rem}
    small{display:block;font-size:.75rem;color:var(--soft)}
    .number{text-align:end;font-variant-numeric:tabular-nums;color:var(--soft);white-space:nowrap}
    .badge{white-space:nowrap;color:var(--soft)}.badge.ok{color:var(--leaf)}.badge.failing{color:var(--fruit)}\
    .badge.waiting{color:var(--warn)}
    footer{max-width:72rem;margin:0 auto;padding:0 1.25rem 2rem;font-size:.8125rem;color:var(--soft)}
    a{color:var(--leaf)}:focus-visible{outline:3px solid var(--leaf);outline-offset:3px}
    .stale main{opacity:.55}
    @media (max-width:40rem){main{padding-top:1.25rem}.facts{margin-left:0;width:100%}\
    .cards{grid-template-columns:1fr}}
    @media (max-width:24rem){.card,.table{padding-inline:1rem}th{min-width:6.5rem}\
    .badge,.number{white-space:normal}td+td.number{min-width:3.75rem}}
    @media (prefers-contrast:more){:root{--soft:var(--ink);--line:var(--ink)}}
    """

  /// Replaces the main part of the page by that of a new one; reports if the gateway does not answer.
  static let script = """
    const note=document.getElementById("renewed"),said=note.innerHTML;
    async function renew(){
    try{const answer=await fetch("/status",{headers:{accept:"text/html"},cache:"no-store"});
    if(!answer.ok)throw 0;
    const page=new DOMParser().parseFromString(await answer.text(),"text/html");
    document.getElementById("status").replaceWith(page.getElementById("status"));
    document.title=page.title;
    if(document.body.classList.contains("stale")){document.body.classList.remove("stale");note.innerHTML=said}}
    catch{if(!document.body.classList.contains("stale")){document.body.classList.add("stale");\
    note.textContent="The gateway has not answered since "+new Date().toLocaleTimeString()+"."}}}
    setInterval(()=>{if(!document.hidden)renew()},10000);
    document.addEventListener("visibilitychange",()=>{if(!document.hidden)renew()});
    """
}
