/// The name that Apple gives to the file of a key: `AuthKey_` and the key's identifier of ten characters.
package enum AppleKeyFile {
  /// The identifier in the name of a file; nil if the file has another name.
  package static func keyID(inNameOf path: String) -> String? {
    let name = Array(path.utf8.split(separator: UInt8(ascii: "/")).last ?? [])
    let (head, tail) = (Array("AuthKey_".utf8), Array(".p8".utf8))
    guard name.starts(with: head), name.suffix(tail.count).elementsEqual(tail), name.count == 21 else { return nil }
    return String(decoding: name[head.count..<(name.count - tail.count)], as: UTF8.self)
  }
}
