/// The classification of a request path before route look-up.
///
/// Routes match the bytes that are forwarded: Cordon never normalizes a path. A path that every server reads
/// the same way is *canonical*; one that servers are known to read in different ways is *ambiguous* and never gets a
/// laxer rule than the default; one that no legitimate client sends is *refused* with 400.
package enum PathClassification: Sendable, Equatable {
  /// There is one reading: the bytes themselves.
  case canonical
  /// There is more than one reading. The path may be forwarded, under the strictest rule of all its readings.
  case ambiguous(PathAmbiguity)
  /// Answer 400, close, and send nothing upstream.
  case refused(PathRefusal)
}

/// The reason why a path has more than one reading. Of several reasons, the one with the highest raw value is reported.
///
/// Up to ``legacyByte`` the other reading is another spelling of a path that is computed as the routes are looked up
/// (``LooseReading``: percent-encodings decoded, letters normalized, parameters dropped, slashes collapsed), and only
/// the routes found there can make the answer stricter. From ``cookielessAmongOthers`` to ``doubleEncoding``, and of
/// ``cookieless``, the readings are whole other paths, each of which is classified and looked up (``PathReadings``).
/// From ``nestedEncoding`` on the other reading could be any path (``couldBeAnywhere``), and every route of the table
/// can make it stricter.
package enum PathAmbiguity: UInt8, Sendable, Equatable, Comparable, CaseIterable {
  /// A segment such as `/(S(x))/`, which ASP.NET removes (``CookielessSegment``), in a path that is canonical
  /// otherwise. Applications write it into all their links, so the path keeps its own rule, unless that of the path
  /// without the segment is stricter.
  case cookieless = 1
  /// An unreserved byte is percent-encoded (`/%61dmin`): the same resource by RFC 3986, 6.2.2.2, and no
  /// browser sends it of itself.
  case encodedUnreserved
  /// A raw byte from 0x80: not a URI by RFC 3986, but some scripts and old clients send it.
  case rawNonASCII
  /// A character that compatibility normalization turns into ASCII letters or digits (U+FF41 into `a`): an
  /// application that normalizes reads another path.
  case compatibilityLetter
  /// `;`, raw or encoded: a path parameter to Java servers (`/admin;x/`), a plain byte to others.
  case parameter
  /// `?` or `#`, encoded: a delimiter to a server that decodes before it parses.
  case encodedDelimiter
  /// `/` or `\`, encoded: a separator to some, data to others.
  case encodedSeparator
  /// `//` after the first byte: collapsed by some servers only.
  case emptySegment
  /// A single byte from 0xA4 that is not UTF-8, between ASCII bytes: a letter in an older encoding (`%E9` in Latin-1).
  /// Servers also drop it, replace it, or take a similar ASCII letter: the path from there on is not known.
  case legacyByte
  /// As ``cookieless``, beside one of the reasons above.
  case cookielessAmongOthers
  /// `/`, `\`, `?` or `#`, encoded or as another character, behind a `;`, or a first segment that is only a parameter:
  /// to a server that drops parameters before it decodes, `/;x%2Fy/admin` is `/admin`, and `/;x/y` is `//y`.
  case hidingParameter
  /// `//` at the beginning, or `/` before an encoded separator: an authority to parsers of whole URLs, so that
  /// `//x/admin` may be read as `/admin`.
  case leadingDoubleSlash
  /// `%25` followed by two hexadecimal digits (`%252F`): an escape to a server that decodes twice.
  case doubleEncoding
  /// An escape that is encoded in another way (`%25u002e`, `%25%32e`, a full-width `%`).
  case nestedEncoding
  /// Other bytes from 0x80, raw or encoded, that are not UTF-8: overlong forms such as `%c0%ae` are dots to sloppy
  /// decoders, and pairs of such bytes are full-width dots in older encodings.
  case malformedUTF8
  /// A character that compatibility normalization or a best-fit code page turns into `/` or `\` (U+FF0F, U+2215 and
  /// their like), and a segment that normalization turns into dots (U+FF0E, U+2025).
  case confusable
  /// A segment of nothing but three or more dots, or of dots and encoded spaces or `+`: Windows drops trailing dots and
  /// spaces, and routers that decode paths as forms read `+` as a space.
  case dots

  /// Whether the other reading could be any path at all.
  package var couldBeAnywhere: Bool { self >= .nestedEncoding }

  /// Whether ``PathReadings`` has further readings of the path.
  var hasFurtherReadings: Bool { self == .cookieless || self >= .cookielessAmongOthers && !couldBeAnywhere }

  package static func < (a: PathAmbiguity, b: PathAmbiguity) -> Bool { a.rawValue < b.rawValue }
}

/// The reason why a path is refused.
package enum PathRefusal: Sendable, Equatable {
  /// Empty, or not beginning with `/`.
  case notAbsolute
  /// A space, a control byte (0x00 to 0x1F) or DEL.
  case controlByte
  /// One of those but the space, percent-encoded: `%00` cuts strings short, `%0d%0a` splits headers built from paths.
  case encodedControlByte
  /// `%` that is not followed by two hexadecimal digits, such as `%u002e` (IIS).
  case malformedEncoding
  /// A raw `\`: browsers send `/` for it, servers on Windows read `/`, and RFC 3986 does not allow it.
  case backslash
  /// A raw `?` or `#`, which end a path: the caller's query, or a client that sends fragments.
  case delimiter
  /// `.` or `..` as a segment, also percent-encoded, before `;`, or beside an encoded separator (`..%2f`, `..;/`).
  /// Browsers resolve them all before they send.
  case dotSegment
}

extension PathClassification {
  /// Classifies a path in one pass over its bytes, without allocation.
  ///
  /// Canonical are, beside the bytes of RFC 3986 `pchar`, the printable bytes that browsers leave as they are
  /// (`|`, `[`, `]`, `"`, `<`, `>`, `^`, `` ` ``, `{`, `}`), the percent-encodings of reserved bytes that are not
  /// delimiters in a path (`%40`, `%2B`, as `encodeURIComponent` writes them) and of well-formed UTF-8.
  ///
  /// - Parameter path: the path of the request target exactly as it will be forwarded, without `?` and the query.
  package static func classify(_ path: Span<UInt8>) -> PathClassification {
    guard path.count > 0, path[0] == UInt8(ascii: "/") else { return .refused(.notAbsolute) }
    var scan = PathScan()
    var index = 1
    while index < path.count {
      let byte = path[index]
      if PathByte.isPlain(byte) {
        scan.plain(byte)
        index += 1
      } else if let refusal = scan.special(byte, in: path, at: &index) {
        return .refused(refusal)
      }
    }
    if let refusal = scan.endSegment() { return .refused(refusal) }
    return scan.ambiguity.map(PathClassification.ambiguous) ?? .canonical
  }
}
