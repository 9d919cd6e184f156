package import DataPlane
package import Operations

/// The admin listener of a running gateway, as commands need it: its address, and the credential for the admin API.
package struct AdminListenerSettings: Sendable, Equatable {
  /// `admin.address`.
  package let address: BindAddress
  /// The credential.
  package let settings: AdminSettings
}

extension ConfigurationFile {
  /// Reads `[admin]` of a file whose other tables may be invalid, even in their syntax. Files that it names are not
  /// checked.
  /// - Parameters:
  ///   - path: the file; relative to the working directory.
  ///   - environment: the value of an environment variable, for `${NAME}`.
  ///   - files: the access to files.
  /// - Returns: nil if the file cannot be read, or `[admin]` is invalid or has an unknown key.
  package static func adminListener(
    _ path: String, environment: @escaping @Sendable (String) -> String? = processEnvironment,
    files: FileAccess = .system
  ) -> AdminListenerSettings? {
    guard case .contents(let bytes, _) = files.read(path, Document.sizeLimit) else { return nil }
    guard let document = (try? Document(bytes)) ?? lines(ofTable: "admin", in: bytes).flatMap({ try? Document($0) })
    else {
      return nil
    }
    var reader = DocumentReader(
      context: DecodingContext(
        document: document, fileName: path, directory: directory(of: path), environment: environment))
    reader.read(document)
    // An invalid value must not be replaced by the default, nor one whose key is misspelt.
    if let admin = document.root["admin"] {
      let keys = Set(ConfigurationSchema.admin.entries.map(\.key))
      guard case .table(let table) = admin, table.keys.allSatisfy({ keys.contains("admin.\($0)") }) else { return nil }
    }
    for entry in ConfigurationSchema.admin.entries {
      let key = entry.key
      if reader.context.isPresent(key), !reader.context.validKeys.contains(key) { return nil }
    }
    let configuration = reader.builder.configuration
    return AdminListenerSettings(address: configuration.adminAddress, settings: configuration.admin)
  }

  /// The lines of one table, from its header to the next one; nil where there is no such header, or more than one: the
  /// gateway has read one of them, and nobody knows which.
  private static func lines(ofTable name: String, in bytes: [UInt8]) -> [UInt8]? {
    let blanks: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var result: [UInt8] = []
    var isInside = false
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let text = line.drop { blanks.contains($0) }
      if text.starts(with: "[\(name)]".utf8) {
        guard result.isEmpty else { return nil }
        result = Array(line)
        isInside = true
      } else if isInside {
        isInside = text.first != UInt8(ascii: "[")
        if isInside { result += [UInt8(ascii: "\n")] + line }
      }
    }
    // The last line may end with a carriage return, which ends a line only before a line feed.
    return result.isEmpty ? nil : result + [UInt8(ascii: "\n")]
  }
}
