import ConfigurationFile

extension ForeignSettings.Value {
  /// The texts of a list, or of one text with commas between them, as oauth2-proxy takes either.
  var words: [String]? {
    switch self {
    case .text(let text):
      text.split(separator: ",").map { part in
        String(decoding: part.utf8.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed(), as: UTF8.self)
      }
    case .texts(let texts): texts
    default: nil
    }
  }
}
