internal import Cryptography
internal import WebFormats

/// The content of a store that is copied, by which a later copy is recognized as one of the same.
///
/// The cursor of the change feed alone does not tell: invitations, requests for access and last uses, for instance, do
/// not move it.
package struct CopiedContent: Sendable, Equatable {
  /// The cursor of the store, which names the store as well, and a hash of all rows.
  package let text: String

  /// Reads all rows. Blocks nobody, but takes as long as copying them.
  package static func read(_ source: any StoreCopySource) async throws(StoreError) -> CopiedContent {
    let cursor = try await source.changes(since: nil, limit: 1).cursor
    var hash: [UInt8] = []
    for table in StoreTable.allCases {
      var key: [StoredValue] = []
      while true {
        let rows = try await source.rows(of: table, after: key, limit: StoreCopy.batch)
        // A chain: each hash covers the one before, and the tables between which there is nothing to read.
        var bytes = hash + table.rawValue.utf8
        for value in rows.joined() { value.append(to: &bytes) }
        hash = SHA256.hash(bytes)
        guard let last = rows.last else { break }
        key = Array(last.prefix(table.keyCount))
      }
    }
    return CopiedContent(text: "\(cursor.text) \(Hex.text(hash))")
  }
}

extension StoredValue {
  /// Appends the value, so that no two lists of values are the same bytes.
  fileprivate func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(0)
    case .integer(let number):
      bytes.append(1)
      withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    case .text(let text): append(2, Array(text.utf8), to: &bytes)
    case .bytes(let content): append(3, content, to: &bytes)
    }
  }

  private func append(_ kind: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(kind)
    withUnsafeBytes(of: Int64(content.count).littleEndian) { bytes += $0 }
    bytes += content
  }
}
