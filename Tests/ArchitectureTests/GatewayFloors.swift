import Foundation
import Testing

// The floors of Gateway, from the top: Doctor, Assembly, Endpoints, Gate, Sessions. Each may name the types of the
// floors below it, none those of a floor above.
//
// - Found by the names of types: those that a folder declares, and those that its files mention.
// - The doctor stands above the assembly: only the command uses it.
// - The settings of the whole gateway are known to the assembly and the doctor's entry alone.
// - Each of these settings is made from the configuration: those with defaults are assigned one by one, and no
//   initializer has any.

@Suite("The floors of the gateway")
struct GatewayFloors {
  /// From the top.
  private static let floors = ["Doctor", "Assembly", "Endpoints", "Gate", "Sessions"]

  private let folders: [String: [SwiftText]]

  init() throws {
    let root = try SourceTree.current.get().root.appending(path: "Sources/Gateway")
    var folders: [String: [SwiftText]] = [:]
    for floor in try FileManager.default.contentsOfDirectory(atPath: root.path) {
      let files = FileManager.default.enumerator(atPath: root.appending(path: floor).path)
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift") else { continue }
        folders[floor, default: []].append(try SwiftText("\(floor)/\(file)", in: root))
      }
    }
    self.folders = folders
  }

  @Test("Every folder of Gateway is a floor")
  func everyFolderIsAFloor() {
    #expect(Set(folders.keys) == Set(Self.floors))
    #expect(folders["Gate"]?.contains { $0.declared.contains("LoopGate") } == true, "declarations were read")
    #expect(folders["Gate"]?.contains { $0.mentioned.contains("LoopSessions") } == true, "mentions were read")
  }

  @Test("No floor names a type of a floor above it")
  func arrowsPointDown() {
    var arrowsUp: [String] = []
    for (index, floor) in Self.floors.enumerated() {
      let above = Set(Self.floors[..<index].flatMap { folders[$0] ?? [] }.flatMap(\.declared))
      for file in folders[floor] ?? [] {
        arrowsUp += file.mentioned.intersection(above).sorted().map { "\(file.path) names \($0)" }
      }
    }
    #expect(arrowsUp == [])
  }

  @Test("Only the assembly and the doctor's entry know the settings of the whole gateway")
  func settingsStayAtTheTop() {
    let users = folders.filter { $0.key != "Assembly" }.values.joined()
      .filter { $0.mentioned.contains("GatewaySettings") }
    #expect(users.map(\.path) == ["Doctor/Doctor.swift"])
  }

  @Test("Every setting of the whole gateway is made from the configuration")
  func everySettingIsConfigured() throws {
    let sources = try SourceTree.current.get().root.appending(path: "Sources")
    func text(_ path: String) throws -> String {
      try String(contentsOf: sources.appending(path: path), encoding: .utf8)
    }
    let settings = try text("Gateway/Assembly/Settings/GatewaySettings.swift")
      .matches(of: /(?m)^  package var (\w+)[^{\n]*$/).map { String($0.1) }
    let conversion = try text("cordon/Configuration/GatewaySettings+Configuration.swift")
      .components(separatedBy: "\n}\n")[0]
    let made = conversion.matches(of: /(?m)(?:^    (\w+) = |[ (](\w+): )/).map { String($0.1 ?? $0.2 ?? "") }
    #expect(settings.count > 20)
    #expect(Set(settings).subtracting(made) == [])
  }

  @Test("No initializer of the settings of the whole gateway has a default, which would stand in for a setting")
  func initializersHaveNoDefaults() throws {
    let folder = try SourceTree.current.get().root.appending(path: "Sources/Gateway/Assembly/Settings")
    let parameters = try FileManager.default.contentsOfDirectory(atPath: folder.path).flatMap { file in
      try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        .matches(of: /(?s)  package init\((.*?)\) \{\n/).map { String($0.1) }
    }
    #expect(parameters.count >= 4)
    #expect(parameters.filter { $0.contains(" = ") } == [])
  }
}

/// A Swift file, without comments and strings: the types that it declares, and the names that it mentions.
private struct SwiftText {
  /// Below the folder of the module.
  let path: String
  let declared: Set<String>
  let mentioned: Set<String>

  init(_ path: String, in root: URL) throws {
    self.path = path
    let code = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      .replacing(/(?s)"""(.*?)"""/, with: "\"\"")
      .replacing(/\/\/[^\n]*/, with: "")
      .replacing(/"(?:\\.|[^"\\\n])*"/, with: "\"\"")
    declared = Set(
      code.matches(of: /(?m)^(?:[a-z]+ )*(?:struct|class|enum|protocol|actor|typealias) ([A-Z]\w*)/).map {
        String($0.1)
      })
    mentioned = Set(code.matches(of: /(?:^|[^.\w])([A-Z]\w*)/).map { String($0.1) })
  }
}
