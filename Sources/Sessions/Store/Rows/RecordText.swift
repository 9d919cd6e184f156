package import FoundationEssentials

/// Records that stores keep as JSON.
package enum RecordText {
  /// The record as JSON with sorted keys.
  package static func encode(_ record: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(record), as: UTF8.self)
  }

  /// Reads a record.
  /// - Throws: ``DamagedRowError``.
  package static func decode<Record: Decodable>(_ type: Record.Type, _ text: String) throws -> Record {
    do {
      // By way of an array: for other sequences, the runtime searches all conformances of the program.
      return try JSONDecoder().decode(type, from: Data(Array(text.utf8)))
    } catch {
      throw DamagedRowError(what: "\(type)")
    }
  }
}

extension Date {
  /// The stored form: whole milliseconds since 1970.
  package var stored: Int64 { millisecondsSince1970 }
}
