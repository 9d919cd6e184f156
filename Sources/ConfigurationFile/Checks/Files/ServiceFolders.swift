/// The folders that systemd makes whenever it starts the gateway's unit, `cordon.service` (systemd.exec(5),
/// `RuntimeDirectory=`). Before the first start they are missing, and those below `/run` after each stop.
struct ServiceFolders {
  let files: FileAccess

  /// Whether the unit that is installed on this machine makes a folder.
  func makes(_ folder: String) -> Bool {
    for (key, parent) in Self.settings where folder.utf8.starts(with: parent.utf8) {
      return names(key).contains { $0.elementsEqual(folder.utf8.dropFirst(parent.utf8.count)) }
    }
    return false
  }

  private static let settings = [
    ("RuntimeDirectory=", "/run/"), ("RuntimeDirectory=", "/var/run/"), ("StateDirectory=", "/var/lib/"),
  ]

  /// The names at a setting of the unit. An empty value takes back the earlier ones.
  private func names(_ key: String) -> [ArraySlice<UInt8>] {
    var names: [ArraySlice<UInt8>] = []
    for line in unit.split(separator: UInt8(ascii: "\n")) where line.starts(with: key.utf8) {
      let value = line.dropFirst(key.utf8.count)
      names = value.isEmpty ? [] : names + value.split(separator: UInt8(ascii: " "))
    }
    return names
  }

  /// The unit's text; empty where there is none, or where it is masked (a link to `/dev/null`).
  private var unit: [UInt8] {
    for folder in Self.unitFolders {
      switch files.read("\(folder)/cordon.service", 65_536) {
      case .contents(let bytes, _): return bytes
      case .missing: continue
      case .notRegular, .tooLong, .unreadable, .failed: return []
      }
    }
    return []
  }

  /// In the order in which systemd searches them (systemd.unit(5), "Unit File Load Path").
  private static let unitFolders = [
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
    "/lib/systemd/system",
  ]
}
