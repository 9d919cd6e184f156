import DataPlane

extension ValueType where Value == TLSFiles {
  /// A table with a certificate and its key.
  static var certificate: ValueType {
    ValueType(
      name: "table of certificate_file and private_key_file",
      read: { node, path, context in
        guard case .table(let table) = node else {
          context.report(
            at: path, "\(path) holds \(node.describedKind)", remedy: "write each certificate under a line [[\(path)]]")
          return nil
        }
        let keys = ["certificate_file", "private_key_file"]
        var files: [String] = []
        for key in keys {
          if let node = table[key] {
            if let file = ValueType<String>.file.read(node, path.appending(key), &context) { files.append(file) }
          } else {
            context.report(
              atKey: path, "this certificate has no \(key)", remedy: "write \(key) = and the path of a PEM file")
          }
        }
        let strangers = table.keys.filter { name in !keys.contains { $0.utf8.elementsEqual(name.utf8) } }
        for name in strangers {
          context.report(
            atKey: path.appending(name), "there is no key \(WrittenText(value: name, written: name).shown) in \(path)",
            remedy: "remove it; the keys are \(keys.joined(separator: " and "))")
        }
        guard files.count == keys.count, strangers.isEmpty else { return nil }
        return TLSFiles(certificateFile: files[0], privateKeyFile: files[1])
      },
      write: { files in
        "{ certificate_file = \(TOMLText.quoted(files.certificateFile)), "
          + "private_key_file = \(TOMLText.quoted(files.privateKeyFile)) }"
      })
  }
}
