// swift-tools-version: 6.2
import PackageDescription

/// What every target is held to. Warnings are errors in CI, not everywhere: a compiler newer than ours must not stop
/// somebody from building.
let strict: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
  ] + (Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)])

extension Target.Dependency {
  static let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
  static let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
  static let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
  static let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
  static let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
  static let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
  static let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
  static let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
  static let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
  static let lifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
  static let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
  static let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
  static let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
  static let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
}

let package = Package(
  name: "cordon",
  products: [
    .executable(name: "cordon", targets: ["cordon"]),
    .executable(name: "apple-simulator", targets: ["apple-simulator"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
  ],
  targets: [
    // MARK: System libraries
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    // Of the C library, which Swift does not import whole.
    .systemLibrary(name: "CLinux"),
    // Its headers; the library is loaded when it is wanted.
    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"])]),
    // C in front of toml++, which is C++ in the headers of libtomlplusplus-dev.
    .target(name: "CTOMLParser"),

    // MARK: The ground floor
    .target(name: "Secrets", swiftSettings: strict),
    .target(name: "WebFormats", swiftSettings: strict),
    .target(name: "Threads", dependencies: ["CLinux"], swiftSettings: strict),
    .target(name: "Processes", swiftSettings: strict),
    .target(name: "Cryptography", dependencies: ["COpenSSL", "WebFormats"], swiftSettings: strict),

    // MARK: The data plane
    .target(name: "SocketTransport", dependencies: ["CLinux", "Threads", .nioCore], swiftSettings: strict),
    .target(
      name: "TLSTransport", dependencies: ["COpenSSL", "Secrets", "WebFormats", .nioCore], swiftSettings: strict),
    .target(
      name: "HTTPWire", dependencies: ["CNghttp2", "Cryptography", "WebFormats", .nioCore], swiftSettings: strict),
    .target(
      name: "DataPlane",
      dependencies: [
        "HTTPWire", "Secrets", "SocketTransport", "TLSTransport", "Threads", "WebFormats", .nioCore, .httpTypes,
        .logging,
      ],
      swiftSettings: strict),

    // MARK: The control plane
    .target(
      name: "AppleIdentity", dependencies: ["Cryptography", "Secrets", "WebFormats", .httpTypes],
      swiftSettings: strict),
    .target(name: "Sessions", dependencies: ["Cryptography", "Secrets", "WebFormats"], swiftSettings: strict),
    .target(
      name: "SQLiteSessions", dependencies: ["Sessions", "Threads", "WebFormats", "CSQLite"], swiftSettings: strict),
    .target(
      name: "PostgreSQLSessions", dependencies: ["Sessions", "Threads", "WebFormats", "CPostgreSQL"],
      swiftSettings: strict),
    .target(name: "IdentityAssertion", dependencies: ["Cryptography", "WebFormats"], swiftSettings: strict),
    .target(name: "AccessPolicy", dependencies: ["WebFormats"], swiftSettings: strict),
    .target(name: "Pages", dependencies: ["WebFormats"], swiftSettings: strict),
    .target(name: "Operations", dependencies: ["Threads", "WebFormats", .logging], swiftSettings: strict),
    .target(
      name: "ConfigurationFile",
      dependencies: [
        "DataPlane", "AppleIdentity", "Secrets", "Sessions", "IdentityAssertion", "AccessPolicy", "Pages", "Operations",
        "WebFormats", "CTOMLParser",
      ],
      swiftSettings: strict),

    // MARK: Where the parts meet
    .target(
      name: "Gateway",
      dependencies: [
        "CLinux", "DataPlane", "HTTPWire", "SocketTransport", "AppleIdentity", "Secrets", "Sessions",
        "IdentityAssertion", "AccessPolicy", "Pages", "Operations", "Threads", "WebFormats", .nioCore, .httpTypes,
        .logging, .lifecycle,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "cordon",
      dependencies: [
        "Gateway", "ConfigurationFile", "Operations", "SQLiteSessions", "PostgreSQLSessions", "Sessions",
        "AccessPolicy", "IdentityAssertion", "Processes", "Threads", "WebFormats", .argumentParser, .logging,
        .lifecycle, .unixSignals,
      ],
      swiftSettings: strict),

    // MARK: A local Apple, the contract of a store, a real server for it, and what several test targets need
    .target(
      name: "AppleSimulator",
      dependencies: [
        "Cryptography", .hummingbird, .nioCore, .nioPosix, .nioHTTP1, .httpTypes, .logging, .lifecycle,
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "apple-simulator", dependencies: ["AppleSimulator", .argumentParser],
      swiftSettings: strict),
    .target(
      name: "SessionStoreTesting", dependencies: ["Processes", "Secrets", "Sessions", "TemporaryDirectoryTesting"],
      swiftSettings: strict),
    .target(
      name: "PostgreSQLServerTesting", dependencies: ["Processes", "TemporaryDirectoryTesting"],
      swiftSettings: strict),
    .target(name: "LoopbackTesting", swiftSettings: strict),
    .target(name: "RandomTesting", swiftSettings: strict),
    .target(name: "TemporaryDirectoryTesting", swiftSettings: strict),
    .target(name: "WaitingTesting", swiftSettings: strict),

    // MARK: Tests
    .testTarget(name: "WebFormatsTests", dependencies: ["WebFormats", "RandomTesting"], swiftSettings: strict),
    .testTarget(
      name: "CryptographyTests",
      dependencies: ["Cryptography", "Secrets", "WebFormats", .crypto, .cryptoExtras, .jwtKit],
      swiftSettings: strict),
    .testTarget(
      name: "SecretsTests", dependencies: ["Secrets", "TemporaryDirectoryTesting"], swiftSettings: strict),
    .testTarget(name: "ThreadsTests", dependencies: ["Threads", "WaitingTesting"], swiftSettings: strict),
    .testTarget(
      name: "ProcessesTests", dependencies: ["Processes", "TemporaryDirectoryTesting"], swiftSettings: strict),
    .testTarget(
      name: "SocketTransportTests",
      dependencies: [
        "SocketTransport", "LoopbackTesting", "RandomTesting", "TemporaryDirectoryTesting", "WaitingTesting", .nioCore,
        .nioEmbedded,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TLSTransportTests",
      dependencies: ["TLSTransport", "TemporaryDirectoryTesting", .nioCore, .nioPosix, .nioEmbedded],
      swiftSettings: strict),
    .testTarget(
      name: "HTTPWireTests",
      dependencies: ["HTTPWire", "RandomTesting", "WebFormats", .nioCore, .nioEmbedded, .nioHTTP1, .crypto],
      swiftSettings: strict),
    .testTarget(
      name: "DataPlaneTests",
      dependencies: [
        "DataPlane", "HTTPWire", "LoopbackTesting", "RandomTesting", "Secrets", "SocketTransport", "TLSTransport",
        "TemporaryDirectoryTesting", "Threads", "WaitingTesting", "WebFormats", .nioCore, .nioEmbedded, .nioHTTP1,
        .httpTypes,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "AppleIdentityTests",
      dependencies: [
        "AppleIdentity", "Secrets", "TemporaryDirectoryTesting", "WaitingTesting", "WebFormats", .crypto, .cryptoExtras,
        .httpTypes,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SessionsTests", dependencies: ["Cryptography", "Secrets", "Sessions", "TemporaryDirectoryTesting"],
      swiftSettings: strict),
    .executableTarget(
      name: "store-writer", dependencies: ["SQLiteSessions", "PostgreSQLSessions", "Secrets", "Sessions"],
      path: "Tests/StoreWriter",
      swiftSettings: strict),
    .testTarget(
      name: "IdentityAssertionTests", dependencies: ["IdentityAssertion", .crypto], swiftSettings: strict),
    .testTarget(
      name: "SQLiteSessionsTests",
      dependencies: [
        "SQLiteSessions", "Secrets", "SessionStoreTesting", "TemporaryDirectoryTesting", "WaitingTesting",
        "store-writer",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PostgreSQLSessionsTests",
      dependencies: [
        "PostgreSQLSessions", "PostgreSQLServerTesting", "SQLiteSessions", "Secrets", "SessionStoreTesting",
        "TemporaryDirectoryTesting", "WaitingTesting", "store-writer",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "AccessPolicyTests", dependencies: ["AccessPolicy", "RandomTesting", "WebFormats"], swiftSettings: strict),
    .testTarget(
      name: "PagesTests", dependencies: ["Pages", "RandomTesting", "WebFormats", .mustache], swiftSettings: strict),
    .testTarget(
      name: "OperationsTests",
      dependencies: [
        "Operations", "RandomTesting", "TemporaryDirectoryTesting", "Threads", "WaitingTesting", "WebFormats",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ConfigurationFileTests",
      dependencies: ["ConfigurationFile", "RandomTesting", "TemporaryDirectoryTesting"],
      resources: [.copy("Golden")], swiftSettings: strict),
    .testTarget(
      name: "GatewayTests",
      dependencies: [
        "Gateway", "DataPlane", "HTTPWire", "AppleIdentity", "Sessions", "IdentityAssertion", "AccessPolicy", "Pages",
        "Operations", "Secrets", "TemporaryDirectoryTesting", "Threads", "WaitingTesting", "WebFormats", .nioCore,
        .nioPosix, .httpTypes, .logging, .crypto,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "AppleSimulatorTests", dependencies: ["AppleSimulator", .jwtKit],
      swiftSettings: strict),
    .testTarget(
      name: "ArchitectureTests", dependencies: ["TemporaryDirectoryTesting"], swiftSettings: strict),
    // The fuzzer's invariants, over its seeds and over what it found: Fuzzing/ itself is a package of its own.
    .testTarget(
      name: "FuzzReplayTests",
      dependencies: [
        "HTTPWire", "TLSTransport", "DataPlane", "AppleIdentity", "Sessions", "AccessPolicy", "ConfigurationFile",
        "Secrets", "TemporaryDirectoryTesting", "WebFormats",
        .nioCore, .nioEmbedded, .nioHTTP1, .crypto,
      ],
      path: "Fuzzing/Sources", exclude: ["Fuzz", "CLibFuzzer"], sources: ["Invariants", "Replay"],
      swiftSettings: strict),
    // Black boxes: they import no module of the gateway, and start the binaries in the folder of the test bundle.
    .testTarget(
      name: "SystemTests",
      dependencies: [
        "cordon", "apple-simulator", "store-writer", "PostgreSQLServerTesting", "Processes",
        "TemporaryDirectoryTesting", .crypto,
      ],
      path: "Tests/System",
      exclude: [
        "HTTP2/client", "HTTP2/conformance", "HTTP2/hostile", "HTTP2/load", "HTTP2/peer", "HTTP2/scripted",
        "HTTP2/server",
        "Applications/firefox", "Clients/unfinished", "Limits/exhaust",
      ].map { "\($0).py" }
        + ["commands", "configuration", "cookies", "json", "log", "metrics", "paths", "postgresql", "sqlite"].map {
          "Outside/\($0).txt"
        } + ["Commands/Import"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
