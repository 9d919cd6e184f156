import Pages
import WebFormats

/// Reads the operator's own templates: they are a part of the configuration, and a reload takes them with it.
enum TemplateChecks {
  /// - Parameter asksForAccess: whether the page of a refused user has a button to ask for access.
  static func check(
    _ draft: inout ConfigurationBuilder, asksForAccess: Bool, _ files: FileAccess, _ reading: inout DecodingContext
  ) {
    guard let folder = draft.templates, reading.good.contains(path.description) else { return }
    guard let names = names(in: folder, files, &reading) else { return }
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
    do throws(TemplateProblems) {
      let templates = try OwnTemplates(files: found)
      draft.configuration.pages.templates = templates
      if asksForAccess, templates.lacksRequestSection {
        complain(
          "\(folder)/failure.mustache", "has no section request_access, so that nobody could ask for access",
          remedy: "add the section as in Documentation/PAGES.md, or remove access.requests", &reading)
      }
    } catch {
      for problem in error.problems {
        let place = problem.place.map { ":\($0.line):\($0.column)" } ?? ""
        complain("\(folder)/\(problem.file)\(place)", problem.reason, separator: ": ", remedy: problem.remedy, &reading)
      }
    }
  }

  private static let path = NodePath("pages.templates")

  /// The files in the folder, except hidden ones (such as the links of a Kubernetes volume) and editors' backups.
  private static func names(in folder: String, _ files: FileAccess, _ reading: inout DecodingContext) -> [String]? {
    switch files.list(folder) {
    case .names(let all):
      let names = all.filter { $0.utf8.first != UInt8(ascii: ".") && $0.utf8.last != UInt8(ascii: "~") }.sorted()
      guard names.isEmpty else { return names }
      complain(folder, "holds no template", remedy: "create it, or remove the key", &reading)
    case .missing: complain(folder, "is not there", remedy: "create the folder, or remove the key", &reading)
    case .notFolder: complain(folder, "is no folder", remedy: "write the path of the templates' folder", &reading)
    case .unreadable(let reason):
      complain(
        folder, "cannot be read (\(reason))", remedy: "grant read access to the gateway's user", &reading)
    }
    return nil
  }

  private static func complain(
    _ file: String, _ what: String, separator: String = " ", remedy: String, _ reading: inout DecodingContext
  ) {
    reading.complain(at: path, "\(path): \(reading.shown(file))\(separator)\(what)", remedy: remedy)
  }
}
