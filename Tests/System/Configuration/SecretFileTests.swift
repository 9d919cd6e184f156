import Foundation
import Glibc
import TemporaryDirectoryTesting
import Testing

// Every file that holds a secret follows one permission rule, whenever it is read.
//
// - Accessible to others, writable by its group, a folder or a FIFO: `cordon check` and the start refuse it, and a
//   reload keeps the running configuration. All three name the file, and chmod where that corrects it.
// - Readable by its group, it is accepted by all three.

@SystemActor
@Suite("Files that hold secrets")
struct SecretFileTests {
  /// The file of each key of the configuration that names a secret.
  nonisolated private static let names = [
    "AuthKey.p8", "session.key", "admin.token", "assertion.pem", "one.key", "ticket.key",
  ]

  enum Damage: CaseIterable {
    case accessibleToOthers, writableByGroup, folder, pipe
  }

  private let upstream: RawUpstream
  private let tls: TLSFolder
  private let assertion: AssertionKeyFile
  private let gateway: GatewayProcess

  init() throws {
    (upstream, tls, assertion) = (try RawUpstream(), try TLSFolder(), try AssertionKeyFile())
    try tls.directory.write(String(repeating: "k", count: 80), to: "ticket.key")
    let (tls, assertion) = (tls, assertion)
    gateway = try tls.gateway(before: upstream) {
      $0["listen", "tls_ticket_key_files"] = "[\"\(tls.path)/ticket.key\"]"
      $0["assertion", "audience"] = "\"orders\""
      $0["assertion", "key_files"] = "[\"\(assertion.path)\"]"
      $0["admin", "token_file"] = "\"admin.token\""
    }
  }

  private func path(of name: String) -> String {
    switch name {
    case "assertion.pem": assertion.path
    case "one.key", "ticket.key": "\(tls.path)/\(name)"
    default: "\(gateway.directory.path)/\(name)"
    }
  }

  private func cordon(_ command: String) throws -> (exit: ServerProcess.Exit, said: String) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), [command, "--config", "\(gateway.directory.path)/gateway.conf"],
      directory: gateway.directory.path)
    return (result.exit, result.standardOutput + result.standardError)
  }

  /// Reloads by signal.
  /// - Returns: what was logged meanwhile.
  private func reload() throws -> String {
    let before = gateway.log.count
    gateway.process.signal(SIGHUP)
    return try poll("the reload to be over") {
      let said = String(decoding: gateway.log.dropFirst(before), as: UTF8.self)
      return said.contains("configuration reload") ? said : nil
    }
  }

  /// Damages a file while `body` runs.
  private func with(_ damage: Damage, _ path: String, _ body: () throws -> Void) throws {
    let kept = "\(path).kept"
    try FileManager.default.moveItem(atPath: path, toPath: kept)
    defer {
      try? FileManager.default.removeItem(atPath: path)
      try? FileManager.default.moveItem(atPath: kept, toPath: path)
    }
    switch damage {
    case .accessibleToOthers, .writableByGroup:
      try FileManager.default.copyItem(atPath: kept, toPath: path)
      try #require(chmod(path, damage == .accessibleToOthers ? 0o604 : 0o660) == 0)
    case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .pipe: try #require(mkfifo(path, 0o600) == 0)
    }
    try body()
  }

  @Test("A file that others may access, that its group may change, or that is none is refused", arguments: names)
  func refused(name: String) throws {
    defer {
      gateway.stop()
      upstream.stop()
    }
    #expect(try cordon("check").exit == .code(0))
    let path = path(of: name)
    for damage in Damage.allCases {
      try with(damage, path) {
        let isMode = damage == .accessibleToOthers || damage == .writableByGroup
        for command in ["check", "run"] {
          let (exit, said) = try cordon(command)
          #expect(exit == .code(78), "\(command) \(damage): \(said)")
          #expect(said.contains(name), "\(command) \(damage): \(said)")
          #expect(!isMode || said.contains("chmod"), "\(command) \(damage): \(said)")
        }
        let said = try reload()
        #expect(said.contains("configuration reload failed") && said.contains(name), "\(damage): \(said)")
        #expect(!isMode || said.contains("chmod"), "\(damage): \(said)")
      }
    }
    try #require(chmod(path, 0o640) == 0)
    #expect(try cordon("check").exit == .code(0))
    #expect(try reload().contains("configuration reloaded"))
  }
}
