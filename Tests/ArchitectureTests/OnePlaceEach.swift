import Foundation
import Testing

// What exists once in the package.
//
// - Each format and each check of a secret has one implementation; the simulator, which shares no code, has its own.
// - No name is that of two types in different modules.

@Suite("One place for each format, one meaning for each name")
struct OnePlaceEach {
  private let tree: SourceTree

  init() throws { tree = try SourceTree.current.get() }

  /// Something that has one implementation, and what gives another one away.
  struct Unique: Sendable, CustomTestStringConvertible {
    var subject: String
    /// Alternatives of a regular expression, searched in each line of code.
    var signs: [String]
    /// The file below `Sources` that implements it. It has to show every sign, so that none can go blind.
    var place: String
    /// Files that show a sign for another reason, and the reason.
    var exceptions: [String: String] = [:]

    var testDescription: String { subject }
  }

  static let all: [Unique] = [
    Unique(
      subject: "hexadecimal digits",
      signs: [#"ascii: "[aA]"\) \+ 10"#, #"ascii: "[aA]"\) \+ \w+ - 10"#],
      place: "WebFormats/Text/Hex.swift"),
    Unique(
      subject: "the size of a chunk in hexadecimal, in one word and without a branch",
      signs: [#"digit < 10 \? digit \+ 0x30"#],
      place: "HTTPWire/Framing/ChunkedEncoder.swift"),
    Unique(
      subject: "case folding of ASCII",
      signs: [#"\| 0x20 : "#], place: "WebFormats/Text/ASCII.swift",
      exceptions: ["HTTPWire/Fields/ReservedNames.swift": "is inlined where WebFormats cannot be named"]),
    Unique(
      subject: "the classes of URI characters",
      signs: [#"(var|func) isUnreserved"#, #"(var|func) isToken\b"#, #"(var|func) isASCIILetter\b"#],
      place: "WebFormats/Text/ASCII.swift",
      exceptions: [
        "HTTPWire/Fields/ByteView.swift": "compares a name with a known one, eight bytes at a time",
        "AppleIdentity/Accounts/TransferClient.swift": "the characters of a bearer token, another class",
      ]),
    Unique(
      subject: "numbers in decimal digits",
      signs: [#"reduce\(0\) \{ \$0 \* 10"#], place: "WebFormats/Text/DecimalDigits.swift"),
    Unique(
      subject: "percent-encoding",
      signs: [#"\[UInt8\(ascii: "%"\)"#, #"== UInt8\(ascii: "%"\)"#],
      place: "WebFormats/Text/PercentEncoding.swift",
      exceptions: [
        "AccessPolicy/Path/PathByte.swift": "reads paths in place, escape by escape, on the way of a request"
      ]),
    Unique(
      subject: "base64 of either alphabet",
      signs: ["ABCDEFGHIJKLMNOPQRSTUVWXYZabc"], place: "WebFormats/Text/Base64URL.swift"),
    Unique(
      subject: "the host of an authority",
      signs: [
        #"!= UInt8\(ascii: "\]"\)"#, #"func isLoopback"#, #"\.localhost""#, #"elementsEqual\("localhost"#,
      ],
      place: "WebFormats/Network/Host.swift",
      exceptions: ["WebFormats/Network/Authority.swift": "asks it of the host of a whole authority"]),
    Unique(
      subject: "the brackets of an IPv6 address in an authority",
      signs: [#"\? "\[\\\(\w+\)\]""#], place: "WebFormats/Network/Host.swift"),
    Unique(
      subject: "loopback addresses",
      signs: [#"bytes\[12\] == 127"#], place: "WebFormats/Network/IPAddress.swift"),
    Unique(
      subject: "ports",
      signs: [#"limit: 65_?535"#], place: "WebFormats/Network/Port.swift"),
    Unique(
      subject: "JSON strings",
      signs: [#"append\("\\\\u""#, #"case 0x2028\.\.\.0x202E"#], place: "WebFormats/JSON/JSONString.swift"),
    Unique(
      subject: "character references of HTML",
      signs: ["&quot;"], place: "WebFormats/Text/HTMLReference.swift"),
    Unique(
      subject: "dates of HTTP",
      signs: [#""Jan", "Feb", "Mar""#], place: "WebFormats/HTTP/HTTPDate.swift"),
    Unique(
      subject: "the calendar",
      signs: ["146_097", "719_468"], place: "WebFormats/Text/CivilDate.swift"),
    Unique(
      subject: "comparison in constant time",
      signs: [#"reduce\(UInt8\(0\)\) \{ \$0 \| \("#], place: "Secrets/ConstantTime.swift"),
    Unique(
      subject: "reading a file that may hold a secret",
      signs: [#"[^\w.]open\(\w+, O_RDONLY"#, "O_NONBLOCK"], place: "Secrets/Files/OpenedFile.swift",
      exceptions: [
        "Gateway/Assembly/Process/AvailableProcessors.swift": "reads the kernel's files of a control group",
        "SocketTransport/Channel/ListeningSocket.swift": "sets the flag of an inherited socket",
      ]),
    Unique(
      subject: "threads",
      signs: [#"pthread_create\("#, #"pthread_attr_"#], place: "Threads/DedicatedThread.swift"),
    Unique(
      subject: "starting programs",
      signs: [#"posix_spawn\("#, #"posix_spawnattr_"#], place: "Processes/Spawn.swift"),
    Unique(
      subject: "writing all of some bytes to a file or a pipe",
      signs: [#"\bwrite\(\w+, \$?\w+\.baseAddress"#], place: "Operations/Lines/DescriptorOutput.swift"),
  ]

  /// Signs of a copy that no place may show: what a hand-written one, or one out of Foundation, would begin with.
  static let nowhere: [(sign: String, instead: String)] = [
    (#""0123456789(abcdef|ABCDEF)"#, "Hex"), (#"ercentEncoding\(with"#, "PercentEncoding"),
    (#"removingPercentEncoding"#, "PercentEncoding"), (#"starts\(with: "127"#, "Host.isLoopback"),
    (#"hasPrefix\("127"#, "Host.isLoopback"), (#"[!=]= "(localhost|::1|127\.[^"]*)""#, "Host.isLoopback"),
    (#"\|= .* \^ "#, "ConstantTime"),
    (#"inet_(pton|ntop)\("#, "IPAddress"), (#"contents\(atPath"#, "PrivateFile"),
    (#"\(contentsOf: *URL\(file"#, "PrivateFile"),
    (#"reduce\(0\) \{[^}]*\$1 - (0x30|UInt8\(ascii: "0)"#, "DecimalDigits"),
    (#"\(0x30\.\.\.0x39\)\.contains"#, "isASCIIDigit"), (#"\(0x41\.\.\.0x5A\)\.contains"#, "asciiLowercased"),
  ]

  /// Modules without a place in the gateway: the simulator, which shares no code with it, and a server for tests.
  private static let strangers: Set<String> = ["AppleSimulator", "apple-simulator", "PostgreSQLServerTesting"]

  /// The lines of code, without comments, of each file below `Sources`.
  private func code() throws -> [String: [String]] {
    let sources = tree.root.appending(path: "Sources")
    var code: [String: [String]] = [:]
    let files = FileManager.default.enumerator(atPath: sources.path)
    while let file = files?.nextObject() as? String {
      guard file.hasSuffix(".swift"), let module = file.split(separator: "/").first,
        !Self.strangers.contains(String(module))
      else { continue }
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      code[file] = text.components(separatedBy: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    }
    return code
  }

  private func files(showing sign: String, in code: [String: [String]]) throws -> Set<String> {
    let expression = try NSRegularExpression(pattern: sign)
    return Set(
      code.filter { _, lines in
        lines.contains { line in
          expression.firstMatch(in: line, range: NSRange(line.startIndex..., in: line)) != nil
        }
      }.keys)
  }

  @Test("Each format and each check of a secret is written in one place", arguments: all)
  func onePlace(of unique: Unique) throws {
    let code = try code()
    var excused: Set<String> = []
    for sign in unique.signs {
      let found = try files(showing: sign, in: code)
      #expect(found.contains(unique.place), "\(sign) does not find \(unique.place) itself")
      #expect(
        found.subtracting([unique.place]).subtracting(unique.exceptions.keys).sorted() == [],
        "\(sign): use \(unique.place)")
      excused.formUnion(found.intersection(unique.exceptions.keys))
    }
    #expect(excused == Set(unique.exceptions.keys), "an exception that is no longer needed")
  }

  @Test("No file writes by hand, or with Foundation, what the ground floor has")
  func noCopies() throws {
    let code = try code()
    for (sign, instead) in Self.nowhere {
      #expect(try files(showing: sign, in: code).sorted() == [], "\(sign): use \(instead)")
    }
  }

  @Test(
    "The signs of copies find what they are to find",
    arguments: [
      #"let digits = Array("0123456789ABCDEF".utf8)"#,
      #"password.addingPercentEncoding(withAllowedCharacters: .alphanumerics)"#, "text.removingPercentEncoding",
      #"host.utf8.starts(with: "127.".utf8)"#, #"host.hasPrefix("127.")"#, #"host == "localhost" || other"#,
      "for (a, b) in zip(left, right) { difference |= a ^ b }", "inet_pton(AF_INET, text, &v4) == 1",
      "FileManager.default.contents(atPath: path)", "Data(contentsOf: URL(filePath: path))",
      #"digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }"#, "allSatisfy({ (0x30...0x39).contains($0) })",
      "name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }",
    ])
  func signsSee(copy: String) throws {
    let matching = try Self.nowhere.filter { try !files(showing: $0.sign, in: ["copy": [copy]]).isEmpty }
    #expect(matching.count == 1, "\(matching.map(\.sign))")
  }

  @Test("No name is that of two types")
  func oneMeaningForEachName() throws {
    let declaration = try NSRegularExpression(
      pattern: #"^(?:(?:public|package|internal|final|indirect) )*(?:struct|enum|class|actor|protocol|typealias) (\w+)"#
    )
    var files: [String: [String]] = [:]
    let sources = tree.root.appending(path: "Sources")
    let enumerator = FileManager.default.enumerator(atPath: sources.path)
    while let file = enumerator?.nextObject() as? String {
      guard file.hasSuffix(".swift") else { continue }
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      for line in text.components(separatedBy: "\n") {
        let match = declaration.firstMatch(in: line, range: NSRange(line.startIndex..., in: line))
        guard let range = match.flatMap({ Range($0.range(at: 1), in: line) }) else { continue }
        files[String(line[range]), default: []].append(file)
      }
    }
    #expect(files.count > 700, "the declarations were not found")
    #expect(files["Authority"] == ["WebFormats/Network/Authority.swift"])
    for (name, files) in files where files.count > 1 { Issue.record("\(name): \(files.sorted())") }
  }
}
