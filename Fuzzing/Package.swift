// swift-tools-version: 6.2
import PackageDescription

/// The gateway's modules, compiled here a second time with the instruments of libFuzzer. `Gateway` is a link to the
/// sources of the package above: `package` and tested access end at the borders of a package, so the modules under test
/// must be targets of this one.
///
/// Testing is enabled although this is a release build, and assertions stay on; neither changes what is tested.
let instrumented: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .unsafeFlags(["-sanitize=fuzzer", "-enable-testing", "-assert-config", "Debug"]),
]

extension Target.Dependency {
  static let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
  static let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
  static let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
  static let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
  static let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
  static let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
}

/// A module of the gateway.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, path: "Gateway/\(name)", swiftSettings: instrumented)
}

let package = Package(
  name: "fuzzing",
  dependencies: [
    // The same versions as above.
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
  ],
  targets: [
    // MARK: Under test
    .systemLibrary(name: "COpenSSL", path: "Gateway/COpenSSL", pkgConfig: "openssl"),
    .systemLibrary(name: "CNghttp2", path: "Gateway/CNghttp2", pkgConfig: "libnghttp2"),
    .systemLibrary(name: "CLinux", path: "Gateway/CLinux"),
    .target(name: "CTOMLParser", path: "Gateway/CTOMLParser"),
    module("Secrets", []),
    module("WebFormats", []),
    module("Threads", ["CLinux"]),
    module("Cryptography", ["COpenSSL", "WebFormats"]),
    module("TLSTransport", ["COpenSSL", "Secrets", "WebFormats", .nioCore]),
    module("HTTPWire", ["CNghttp2", "Cryptography", "WebFormats", .nioCore]),
    module("SocketTransport", ["CLinux", "Threads", .nioCore]),
    module(
      "DataPlane",
      [
        "HTTPWire", "Secrets", "SocketTransport", "TLSTransport", "Threads", "WebFormats", .nioCore, .httpTypes,
        .logging,
      ]),
    module("AppleIdentity", ["Cryptography", "Secrets", "WebFormats", .httpTypes]),
    module("Sessions", ["Cryptography", "Secrets", "WebFormats"]),
    module("IdentityAssertion", ["Cryptography", "WebFormats"]),
    module("AccessPolicy", ["WebFormats"]),
    module("Pages", ["WebFormats"]),
    module("Operations", ["Threads", "WebFormats", .logging]),
    module(
      "ConfigurationFile",
      [
        "DataPlane", "AppleIdentity", "Secrets", "Sessions", "IdentityAssertion", "AccessPolicy", "Pages", "Operations",
        "WebFormats", "CTOMLParser",
      ]),

    // MARK: Invariants, and the fuzzer that searches for violations
    module("TemporaryDirectoryTesting", []),
    .target(
      name: "Invariants",
      dependencies: [
        "HTTPWire", "TLSTransport", "DataPlane", "AppleIdentity", "Sessions", "AccessPolicy", "ConfigurationFile",
        "Secrets", "TemporaryDirectoryTesting", "WebFormats",
        .nioCore, .nioEmbedded, .nioHTTP1, .crypto,
      ],
      swiftSettings: instrumented),
    .target(name: "CLibFuzzer"),
    .executableTarget(name: "fuzz", dependencies: ["Invariants", "CLibFuzzer"], path: "Sources/Fuzz"),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
