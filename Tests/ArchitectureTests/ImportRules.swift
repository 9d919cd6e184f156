import Foundation
import Testing

// The arrows between the parts, and what no part may do. Each rule is held twice where that says more: by what files
// import, and by what the manifest lets them import.
//
// - A module depends on nothing but what the design's arrows name.
// - A C module is imported by its one owner only.
// - The control plane knows no NIO, and its modules do not know one another.
// - The data plane knows nothing of identity, sessions, policy or pages, and no Foundation.
// - The stores depend on no other package.
// - No shipped module imports Foundation, but for FoundationEssentials.
// - Only the command and tests import ConfigurationFile; only the command names a concrete store.
// - The simulator shares no code with AppleIdentity.
// - No target is called Common, Utils or Helpers; no test support is in a shipping target.

@Suite("The import rules")
struct ImportRules {
  private let tree: SourceTree

  init() throws { tree = try SourceTree.current.get() }

  /// The parts of the package that each part may depend on.
  private static let arrows: [String: Set<String>] = [
    "COpenSSL": [], "CNghttp2": [], "CPostgreSQL": [], "CSQLite": [], "CTOMLParser": [],
    "CLinux": [],
    // The ground floor.
    "Secrets": [], "WebFormats": [], "Threads": ["CLinux"], "Processes": [],
    "Cryptography": ["COpenSSL", "WebFormats"],
    "SocketTransport": ["CLinux", "Threads"],
    "TLSTransport": ["COpenSSL", "Secrets", "WebFormats"],
    "HTTPWire": ["CNghttp2", "Cryptography", "WebFormats"],
    "DataPlane": ["HTTPWire", "Secrets", "SocketTransport", "TLSTransport", "Threads", "WebFormats"],
    "AppleIdentity": ["Cryptography", "Secrets", "WebFormats"],
    "Sessions": ["Cryptography", "Secrets", "WebFormats"],
    "IdentityAssertion": ["Cryptography", "WebFormats"],
    "AccessPolicy": ["WebFormats"], "Pages": ["WebFormats"], "Operations": ["Threads", "WebFormats"],
    "SQLiteSessions": ["Sessions", "Threads", "WebFormats", "CSQLite"],
    "PostgreSQLSessions": ["Sessions", "Threads", "WebFormats", "CPostgreSQL"],
    "SessionStoreTesting": ["Processes", "Secrets", "Sessions", "TemporaryDirectoryTesting"],
    "PostgreSQLServerTesting": ["Processes", "TemporaryDirectoryTesting"],
    "LoopbackTesting": [], "RandomTesting": [], "TemporaryDirectoryTesting": [], "WaitingTesting": [],
    "store-writer": ["SQLiteSessions", "PostgreSQLSessions", "Secrets", "Sessions"],
    "ConfigurationFile": [
      "DataPlane", "AppleIdentity", "Secrets", "Sessions", "IdentityAssertion", "AccessPolicy", "Pages", "Operations",
      "WebFormats", "CTOMLParser",
    ],
    // HTTPWire: the gate reads the data plane's heads.
    "Gateway": [
      "CLinux", "DataPlane", "HTTPWire", "SocketTransport", "AppleIdentity", "Secrets", "Sessions",
      "IdentityAssertion", "AccessPolicy", "Pages", "Operations", "Threads", "WebFormats",
    ],
    // Below the first line: the values that the command carries from the one to the other.
    "cordon": [
      "Gateway", "ConfigurationFile", "SQLiteSessions", "PostgreSQLSessions",
      "DataPlane", "AppleIdentity", "Sessions", "IdentityAssertion", "AccessPolicy", "Pages", "Operations",
      "Processes", "Threads", "WebFormats",
    ],
    // The primitives only: what it says and judges is written once more, so that a mistake of ours is not its own.
    "AppleSimulator": ["Cryptography"],
    "apple-simulator": ["AppleSimulator"],
  ]

  private static let controlPlane: Set<String> = [
    "AppleIdentity", "Sessions", "IdentityAssertion", "AccessPolicy", "Pages", "Operations",
  ]
  private static let dataPlane: Set<String> = ["DataPlane", "HTTPWire", "SocketTransport", "TLSTransport"]
  private static let stores: Set<String> = ["SQLiteSessions", "PostgreSQLSessions"]

  private var shipping: [String: SourceTree.Target] { tree.targets.filter { $0.value.kind != "test" } }

  @Test("The tree was read: it has modules, imports and targets")
  func treeWasRead() {
    #expect(tree.modules.count >= 10)
    #expect(tree.targets.count >= 10)
    #expect(tree.imports(of: "DataPlane").contains("NIOCore"))
    #expect(tree.targets["DataPlane"]?.products.contains("NIOCore") == true)
    #expect(SourceTree.imports(in: "  public import struct Foundation.Date // why\nimportant()") == ["Foundation"])
    #expect(SourceTree.imports(in: "@testable import Gateway\n@preconcurrency package import A.B") == ["Gateway", "A"])
  }

  @Test("Every shipping target has a place in the design, and every place's folder is a target")
  func everyTargetIsKnown() {
    #expect(shipping.keys.filter { Self.arrows[$0] == nil } == [])
    #expect(tree.modules.keys.filter { tree.targets[$0] == nil } == [])
  }

  @Test("Targets depend on nothing but what the arrows name")
  func manifestFollowsTheArrows() {
    for (name, target) in shipping {
      #expect(target.targets.subtracting(Self.arrows[name] ?? []) == [], "\(name) in Package.swift")
    }
  }

  @Test("Files import nothing of the package but what the arrows name")
  func importsFollowTheArrows() {
    let own = Set(Self.arrows.keys)
    for name in tree.modules.keys {
      let allowed = Self.arrows[name] ?? []
      #expect(tree.files(of: name) { own.contains($0) && !allowed.contains($0) } == [])
    }
  }

  @Test("A C module is imported by its owners only")
  func ownersOfEachCModule() {
    let owners: [String: Set<String>] = [
      // libcrypto and libssl, which come in one package of headers.
      "COpenSSL": ["Cryptography", "TLSTransport"],
      "CNghttp2": ["HTTPWire"], "CPostgreSQL": ["PostgreSQLSessions"], "CSQLite": ["SQLiteSessions"],
      "CTOMLParser": ["ConfigurationFile"], "CLinux": ["Threads", "SocketTransport", "Gateway"],
    ]
    for (name, owners) in owners {
      #expect(tree.files(importing: [name], outside: owners) == [])
      #expect(tree.targets.filter { !owners.contains($0.key) && $0.value.targets.contains(name) }.keys.sorted() == [])
    }
    let systemLibraries = tree.targets.filter { $0.value.kind == "system" }.keys
    #expect(systemLibraries.filter { owners[$0] == nil } == [], "a C module without an owner in this test")
  }

  @Test("The control plane knows no NIO", arguments: controlPlane.sorted())
  func noNIOInTheControlPlane(module: String) {
    #expect(tree.files(of: module) { $0.hasPrefix("NIO") || $0.hasPrefix("_NIO") } == [])
    #expect(tree.targets[module]?.products.filter { $0.hasPrefix("NIO") } == [])
  }

  @Test("The control plane's modules do not know one another", arguments: controlPlane.sorted())
  func controlPlaneModulesAreApart(module: String) {
    #expect(tree.files(of: module) { Self.controlPlane.contains($0) && $0 != module } == [])
    #expect(tree.reach(of: module).intersection(Self.controlPlane) == [])
  }

  @Test("The data plane knows nothing of identity, sessions, policy or pages", arguments: dataPlane.sorted())
  func dataPlaneIsApart(module: String) {
    let forbidden = Self.controlPlane.union(Self.stores).union(["Gateway", "ConfigurationFile"])
    #expect(tree.files(of: module) { forbidden.contains($0) } == [])
    #expect(tree.reach(of: module).intersection(forbidden) == [])
  }

  @Test("The data plane has no Foundation", arguments: dataPlane.sorted())
  func noFoundationInTheDataPlane(module: String) {
    #expect(tree.files(of: module) { $0.hasPrefix("Foundation") || $0 == "NIOFoundationCompat" } == [])
  }

  @Test("The stores depend on no other package", arguments: stores.sorted())
  func noPackagesInTheStores(module: String) {
    #expect(tree.targets[module]?.products == [])
  }

  /// Foundation proper brings ICU's data, 33 MB, into the program, and 10 MB of code: into memory, too.
  @Test("No shipped module imports Foundation")
  func noFoundationIsShipped() {
    let foundation: Set<String> = [
      "Foundation", "FoundationNetworking", "FoundationXML", "FoundationInternationalization", "NIOFoundationCompat",
    ]
    let shipped = tree.reach(of: "cordon").union(["cordon"])
    #expect(shipped.count > 15)
    for module in shipped.sorted() {
      #expect(tree.files(of: module) { foundation.contains($0) } == [])
      let products = tree.targets[module]?.products ?? []
      #expect(products.isDisjoint(with: foundation), "\(module) in Package.swift")
    }
  }

  @Test("Only the command and tests import ConfigurationFile")
  func configurationFileIsTheCommands() {
    #expect(tree.files(importing: ["ConfigurationFile"], outside: ["cordon", "ConfigurationFile"]) == [])
    let users = shipping.filter { $0.value.targets.contains("ConfigurationFile") }.keys
    #expect(users.filter { $0 != "cordon" } == [])
  }

  @Test("Only the command names a concrete store")
  func storesAreTheCommands() {
    #expect(tree.files(importing: Self.stores, outside: Self.stores.union(["cordon"])) == [])
    #expect(tree.reach(of: "Gateway").intersection(Self.stores) == [])
  }

  @Test("The simulator shares no code with the gateway")
  func simulatorIsApart() {
    let own = Set(tree.modules.keys).subtracting(["AppleSimulator", "Cryptography"])
    #expect(tree.files(of: "AppleSimulator") { own.contains($0) } == [])
    #expect(tree.targets["AppleSimulator"]?.targets == ["Cryptography"])
    #expect(tree.targets["apple-simulator"]?.targets == ["AppleSimulator"])
    #expect(tree.files(importing: ["AppleSimulator"], outside: ["apple-simulator", "AppleSimulator"]) == [])
  }

  @Test("No target is a drawer for everything")
  func noDrawers() {
    for name in Set(tree.targets.keys).union(tree.modules.keys) {
      for drawer in ["common", "util", "helper", "misc", "shared"] {
        #expect(!name.lowercased().contains(drawer), "\(name)")
      }
    }
  }

  @Test("No shipping target imports test support")
  func noTestSupportShips() {
    let support: Set<String> = [
      "Testing", "XCTest", "SessionStoreTesting", "PostgreSQLServerTesting", "LoopbackTesting", "RandomTesting",
      "TemporaryDirectoryTesting", "WaitingTesting", "NIOEmbedded", "AppleSimulator",
    ]
    let tests: Set<String> = [
      "SessionStoreTesting", "PostgreSQLServerTesting", "LoopbackTesting", "RandomTesting",
      "TemporaryDirectoryTesting", "WaitingTesting", "AppleSimulator", "apple-simulator",
    ]
    #expect(tree.files(importing: support, outside: tests) == [])
    for name in ["cordon", "Gateway", "ConfigurationFile"] {
      #expect(tree.reach(of: name).intersection(tests) == [], "\(name)")
    }
  }
}
