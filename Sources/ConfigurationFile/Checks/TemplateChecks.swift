import Pages
import WebFormats

/// Reads the operator's own templates: they are a part of the configuration, and a reload takes them with it.
enum TemplateChecks {
  /// Reads those of `[pages]`.
  /// - Parameter asksForAccess: whether the page of a refused user has a button to ask for access.
  static func check(
    _ draft: inout ConfigurationBuilder, asksForAccess: Bool, _ files: FileAccess, _ reading: inout DecodingContext
  ) {
    let path = NodePath("pages.templates")
    guard reading.good.contains(path.description),
      let templates = templates(in: draft.templates, at: path, asksForAccess: asksForAccess, files, &reading)
    else { return }
    draft.configuration.pages.templates = templates
  }

  /// Reads the templates of a folder.
  /// - Parameters:
  ///   - folder: nil if there is none.
  ///   - path: the key that names it.
  ///   - asksForAccess: whether the page of a refused user has a button to ask for access.
  static func templates(
    in folder: String?, at path: NodePath, asksForAccess: Bool, _ files: FileAccess, _ reading: inout DecodingContext
  ) -> OwnTemplates? {
    guard let folder, let names = names(in: folder, at: path, files, &reading) else { return nil }
    func complain(
      _ file: String, _ what: String, separator: String = " ", remedy: String, _ reading: inout DecodingContext
    ) { self.complain(at: path, file, what, separator: separator, remedy: remedy, &reading) }
    var found: [(name: String, contents: [UInt8])] = []
    for name in names {
      guard OwnTemplates.fileNames.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
        let near = NearestKey.find(name, among: OwnTemplates.fileNames).map { "did you mean \($0)? " } ?? ""
        complain(
          "\(folder)/\(name)", "is not a template of the gateway",
          remedy: "\(near)the names are \(OwnTemplates.fileNames.joined(separator: ", "))", &reading)
        continue
      }
      switch files.read("\(folder)/\(name)", OwnTemplates.sizeLimit) {
      case .contents(let bytes, _): found.append((name, bytes))
      case .missing: break  // Removed since the folder was read.
      case .notRegular: complain("\(folder)/\(name)", "is no regular file", remedy: "put a file there", &reading)
      case .tooLong: complain("\(folder)/\(name)", "has more than 64 KiB", remedy: "make it shorter", &reading)
      case .unreadable(let reason):
        complain(
          "\(folder)/\(name)", "cannot be read (\(reason))", remedy: "grant read access to the gateway's user",
          &reading)
      }
    }
    do throws(TemplateError) {
      let templates = try OwnTemplates(files: found)
      if asksForAccess, templates.lacksRequestSection {
        complain(
          "\(folder)/failure.mustache", "has no section request_access, so that nobody could ask for access",
          remedy: "add the section as in Documentation/PAGES.md, or remove access.requests", &reading)
      }
      return templates
    } catch {
      for problem in error.problems {
        let place = problem.place.map { ":\($0.line):\($0.column)" } ?? ""
        complain("\(folder)/\(problem.file)\(place)", problem.reason, separator: ": ", remedy: problem.remedy, &reading)
      }
      return nil
    }
  }

  /// The files in the folder, except hidden ones (such as the links of a Kubernetes volume) and editors' backups.
  private static func names(
    in folder: String, at path: NodePath, _ files: FileAccess, _ reading: inout DecodingContext
  ) -> [String]? {
    let (what, remedy): (String, String)
    switch files.list(folder) {
    case .names(let all):
      let names = all.filter { $0.utf8.first != UInt8(ascii: ".") && $0.utf8.last != UInt8(ascii: "~") }.sorted()
      guard names.isEmpty else { return names }
      (what, remedy) = ("holds no template", "create it, or remove the key")
    case .missing: (what, remedy) = ("is not there", "create the folder, or remove the key")
    case .notFolder: (what, remedy) = ("is no folder", "write the path of the templates' folder")
    case .unreadable(let reason):
      (what, remedy) = ("cannot be read (\(reason))", "grant read access to the gateway's user")
    }
    complain(at: path, folder, what, remedy: remedy, &reading)
    return nil
  }

  private static func complain(
    at path: NodePath, _ file: String, _ what: String, separator: String = " ", remedy: String,
    _ reading: inout DecodingContext
  ) {
    reading.complain(at: path, "\(path): \(reading.shown(file))\(separator)\(what)", remedy: remedy)
  }
}
