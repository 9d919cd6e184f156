import Foundation

/// A server that is lenient in one way of each kind, written apart from the code under test: by whole passes over the
/// path, on the results of Foundation.
struct LenientServer {
  /// The number of times that percent-encodings are decoded.
  var rounds: Int
  var charset: Charset
  /// Whether characters are normalized to NFKC after each round.
  var normalizes: Bool
  /// Whether parameters are dropped before anything is decoded.
  var dropsParametersFirst: Bool
  /// The round after which an authority is dropped from the path, 0 for before the first; nil if none is.
  var authorityRound: Int?
  var system: System

  /// The reading of bytes that are not UTF-8.
  enum Charset: CaseIterable {
    case dropping, questionMark, similarLetter, overlong
  }

  enum System: CaseIterable {
    /// Drops parameters.
    case java
    /// Reads `\` as a separator, drops streams, trailing dots and spaces.
    case windows
    /// As Windows, with a router that decodes paths as forms: `+` is a space.
    case windowsForms
    /// As Windows, with ASP.NET, which removes cookieless segments.
    case aspNet
    /// The same without the fixes of August 2023: also where the segment goes on, with the slash before it, or without.
    case aspNetJoining
    case aspNetCutting

    /// Whether it handles names as Windows does.
    var isWindows: Bool { self != .java }

    var isASPNET: Bool { self == .aspNet || self == .aspNetJoining || self == .aspNetCutting }
  }

  /// Every combination, except that ASP.NET drops no bytes and takes none for part of others, and knows no parameters.
  static let all = combinations.filter { server in
    guard server.system.isASPNET else { return true }
    return (server.charset == .questionMark || server.charset == .similarLetter) && !server.dropsParametersFirst
  }

  private static let combinations: [LenientServer] = [1, 2].flatMap { rounds in
    Charset.allCases.flatMap { charset in
      [false, true].flatMap { normalizes in
        Set([nil, 0, 1, rounds]).flatMap { (round: Int?) in
          System.allCases.flatMap { system in
            [false, true].map { first in
              LenientServer(
                rounds: rounds, charset: charset, normalizes: normalizes, dropsParametersFirst: first,
                authorityRound: round, system: system)
            }
          }
        }
      }
    }
  }

  /// The path as the server looks it up: in lower case, without dot segments and empty ones.
  func reading(of path: [UInt8]) -> [UInt8] {
    var path = path
    if dropsParametersFirst {
      let segments = path.split(separator: 0x2F, omittingEmptySubsequences: false)
      path = Array(segments.map { $0.prefix { $0 != 0x3B } }.joined(separator: [0x2F]))
    }
    if authorityRound == 0 { path = Self.withoutAuthority(path) }
    for round in 1...rounds {
      path = decoded(path)
      if system.isASPNET { path = withoutCookielessSegments(path) }
      if normalizes {
        path = Array(String(decoding: path, as: UTF8.self).precomposedStringWithCompatibilityMapping.utf8)
      }
      if authorityRound == round { path = Self.withoutAuthority(path) }
    }
    if let end = path.firstIndex(where: { $0 == 0x3F || $0 == 0x23 || $0 == 0 }) { path.removeSubrange(end...) }
    var segments: [[UInt8]] = []
    for segment in path.split(omittingEmptySubsequences: true, whereSeparator: { isSeparator($0) }) {
      let name = name(of: segment)
      if name == [0x2E, 0x2E] {
        _ = segments.popLast()
      } else if !name.isEmpty, name != [0x2E] {
        segments.append(trimmed(name))
      }
    }
    segments.removeAll { $0.isEmpty }
    let lower = String(decoding: segments.flatMap { [0x2F] + $0 }, as: UTF8.self).lowercased()
    return Array(lower.utf8)
  }

  /// The decoded path as ASP.NET passes it on: a `\` is a slash by then.
  private func withoutCookielessSegments(_ path: [UInt8]) -> [UInt8] {
    let segment = #"/\((?:[A-Za-z]\([^)/]*\))+\)"#
    func removing(_ pattern: String, for replacement: String, in text: String) -> String {
      text.replacingOccurrences(of: pattern, with: replacement, options: .regularExpression)
    }
    var text = String(decoding: path.map { $0 == 0x5C ? 0x2F : $0 }, as: UTF8.self)
    text = removing(segment + #"(?=/|\z)"#, for: "", in: text)
    if system == .aspNetJoining { text = removing(segment, for: "", in: text) }
    if system == .aspNetCutting { text = removing(segment, for: "/", in: text) }
    return Array(text.utf8)
  }

  private func isSeparator(_ byte: UInt8) -> Bool { byte == 0x2F || system.isWindows && byte == 0x5C }

  private func name(of segment: ArraySlice<UInt8>) -> [UInt8] {
    guard system.isWindows else { return Array(segment.prefix { $0 != 0x3B }) }
    var name = Array(segment.prefix { $0 != 0x3A })
    while name.last == 0x20 { name.removeLast() }
    return name
  }

  private func trimmed(_ name: [UInt8]) -> [UInt8] {
    var name = name
    while system.isWindows, let last = name.last, last == 0x2E || last == 0x20 { name.removeLast() }
    return name
  }

  /// The path behind `//host`.
  private static func withoutAuthority(_ path: [UInt8]) -> [UInt8] {
    func isSeparator(_ byte: UInt8) -> Bool { byte == 0x2F || byte == 0x5C }
    guard path.count > 1, isSeparator(path[0]), isSeparator(path[1]) else { return path }
    let authority = path.drop(while: isSeparator)
    return Array(authority.drop { !isSeparator($0) })
  }

  // MARK: Decoding

  private func decoded(_ path: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = path[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == 0x25, digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) {
        result.append(value)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte == 0x2B && system == .windowsForms ? 0x20 : byte)
      }
    }
    return text(result)
  }

  /// The bytes as UTF-8, by the charset.
  private func text(_ bytes: [UInt8]) -> [UInt8] {
    if String(validating: bytes, as: UTF8.self) != nil { return bytes }
    if charset == .overlong { return Self.overlong(bytes) }
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let length = (1...4).first {
        index + $0 <= bytes.count && String(validating: bytes[index..<(index + $0)], as: UTF8.self) != nil
      }
      if let length {
        result += bytes[index..<(index + length)]
      } else if charset == .questionMark {
        result.append(0x3F)
      } else if charset == .similarLetter {
        // As best-fit tables and transliteration do: U+00E9 is `e`, U+00DF `ss`.
        let letter = bytes[index] == 0xDF ? "ss" : String(Unicode.Scalar(bytes[index]))
        result += letter.folding(options: .diacriticInsensitive, locale: nil).utf8
      }
      index += length ?? 1
    }
    return result
  }

  /// Decodes UTF-8 without a check of its form: overlong sequences become ASCII.
  private static func overlong(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      let count =
        switch byte {
        case 0xC0...0xDF: 1
        case 0xE0...0xEF: 2
        case 0xF0...0xF7: 3
        case 0xF8...0xFB: 4
        case 0xFC...0xFD: 5
        default: 0
        }
      index += 1
      if byte < 0x80 {
        result.append(byte)
        continue
      }
      var value = count == 0 ? UInt64(byte) : UInt64(byte) & (0x3F >> UInt64(count))
      for next in bytes[index...].prefix(count) { value = value << 6 | UInt64(next & 0x3F) }
      index = min(index + count, bytes.count)
      let scalar = Unicode.Scalar(UInt32(truncatingIfNeeded: value)) ?? "\u{FFFD}"
      result += String(scalar).utf8
    }
    return result
  }
}
