/// The drawings, as inline SVG: no page asks for a file.
enum Artwork {
  /// Cordon's mark: an apple tree trained along two wires. Decoration; it says nothing to a screen reader.
  static let mark: StaticString = """
    <svg class="mark" width="104" height="72" viewBox="0 0 104 72" fill="none" stroke-linecap="round" stroke-linejoin="round" \
    aria-hidden="true" focusable="false"><g class="wire" stroke="#999" stroke-width="1"><path d="M2 22h100M2 44h100"/></g>\
    <g class="tree" stroke="#5b8f55" stroke-width="2"><path d="M52 70V14"/><path d="M52 56c0-8-5-12-13-12H14"/>\
    <path d="M52 56c0-8 5-12 13-12h25"/><path d="M52 34c0-8-5-12-13-12H20"/><path d="M52 34c0-8 5-12 13-12h19"/>\
    <path d="M52 14c0-5 3-9 8-10 0 6-3 10-8 10Z"/><path d="M26 22c0-4 2-6 6-7 0 4-2 7-6 7ZM78 22c0-4-2-6-6-7 0 4 2 7 6 7Z"/>\
    <path d="M20 44c0-4 2-6 6-7 0 4-2 7-6 7ZM84 44c0-4-2-6-6-7 0 4 2 7 6 7Z"/></g>\
    <g class="fruit" fill="#c9553a"><circle cx="38" cy="27.5" r="3.5"/><circle cx="68" cy="49.5" r="3.5"/>\
    <circle cx="31" cy="49.5" r="3.5"/><circle cx="78" cy="27.5" r="3.5"/></g></svg>
    """

  /// Apple's logo, which belongs on the button and nowhere else (Apple, Human Interface Guidelines, "Sign in with
  /// Apple"). Outline from Simple Icons (CC0).
  static let appleLogo: StaticString = """
    <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M12.152 6.896c-.948 0-2.415-1.078-3.96-1.04\
    -2.04.027-3.91 1.183-4.961 3.014-2.117 3.675-.546 9.103 1.519 12.09 1.013 1.454 2.208 3.09 3.792 3.039 1.52-.065 \
    2.09-.987 3.935-.987 1.831 0 2.35.987 3.96.948 1.637-.026 2.676-1.48 3.676-2.948 1.156-1.688 1.636-3.325 1.662\
    -3.415-.039-.013-3.182-1.221-3.22-4.857-.026-3.04 2.48-4.494 2.597-4.559-1.429-2.09-3.623-2.324-4.39-2.376-2-.156\
    -3.675 1.09-4.61 1.09zM15.53 3.83c.843-1.012 1.4-2.427 1.245-3.83-1.207.052-2.662.805-3.532 1.818-.78.896-1.454 \
    2.338-1.273 3.714 1.338.104 2.715-.688 3.559-1.701"/></svg>
    """

  /// The mark in small, for the tab; so that browsers do not ask the application for `/favicon.ico`.
  static let icon: StaticString = """
    data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='none' stroke='%235b8f55' \
    stroke-width='2.5' stroke-linecap='round'%3E%3Cpath d='M16 30V5M16 24c0-4-3-6-7-6H3M16 24c0-4 3-6 7-6h6M16 14c0-4\
    -3-6-7-6H6M16 14c0-4 3-6 7-6h3'/%3E%3Cg fill='%23c9553a' stroke='none'%3E%3Ccircle cx='9' cy='22' r='3'/%3E\
    %3Ccircle cx='23' cy='12' r='3'/%3E%3C/g%3E%3C/svg%3E
    """
}
