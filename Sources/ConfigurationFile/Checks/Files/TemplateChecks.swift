import Pages
import WebFormats

/// Reads the operator's own templates, which are part of the configuration and of each reload.
enum TemplateChecks {
  /// Reads the templates of `[pages]`.
  /// - Parameter asksForAccess: whether the page of a refused user has a button to ask for access.
  static func check(
    _ builder: inout ConfigurationBuilder, asksForAccess: Bool, _ files: FileAccess, _ context: inout DecodingContext
  ) {
    let path = NodePath("pages.templates")
    guard context.validKeys.contains(path.description),
      let templates = templates(in: builder.templates, at: path, asksForAccess: asksForAccess, files, &context)
    else { return }
    builder.configuration.pages.templates = templates
  }

  /// Reads the templates of a folder.
  /// - Parameters:
  ///   - folder: `pages.templates`; nil for the templates that Cordon has.
  ///   - path: the key that names it.
  ///   - asksForAccess: whether the page of a refused user has a button to ask for access.
  static func templates(
    in folder: String?, at path: NodePath, asksForAccess: Bool, _ files: FileAccess, _ context: inout DecodingContext
  ) -> OwnTemplates? {
    guard let folder else { return nil }
    return TemplateFolder(folder: folder, path: path, files: files)
      .templates(asksForAccess: asksForAccess, &context)
  }
}

/// A folder of templates.
private struct TemplateFolder {
  let folder: String
  /// The key that names it.
  let path: NodePath
  let files: FileAccess

  func templates(asksForAccess: Bool, _ context: inout DecodingContext) -> OwnTemplates? {
    guard let names = names(&context), let found = contents(of: names, &context) else { return nil }
    do throws(TemplateError) {
      let templates = try OwnTemplates(files: found)
      if asksForAccess, templates.lacksRequestSection {
        report(
          "/failure.mustache", "has no section request_access, so that nobody could ask for access",
          remedy: "add the section as in Documentation/PAGES.md, or remove access.requests", &context)
      }
      return templates
    } catch {
      for problem in error.problems {
        let place = problem.place.map { ":\($0.line):\($0.column)" } ?? ""
        report("/\(problem.file)\(place)", problem.problem, separator: ": ", remedy: problem.remedy, &context)
      }
      return nil
    }
  }

  /// The files in the folder, except hidden ones (such as the links of a Kubernetes volume) and editors' backups.
  private func names(_ context: inout DecodingContext) -> [String]? {
    let (problem, remedy): (String, String)
    switch files.list(folder) {
    case .names(let all):
      let names = all.filter { $0.utf8.first != UInt8(ascii: ".") && $0.utf8.last != UInt8(ascii: "~") }.sorted()
      guard names.isEmpty else { return names }
      (problem, remedy) = ("holds no template", "create it, or remove the key")
    case .missing: (problem, remedy) = ("is not there", "create the folder, or remove the key")
    case .notFolder: (problem, remedy) = ("is not a folder", "write the path of the templates' folder")
    case .unreadable(let reason):
      (problem, remedy) = ("cannot be read (\(reason))", "grant read access to the gateway's user")
    }
    report("", problem, remedy: remedy, &context)
    return nil
  }

  /// The contents of the templates among these files; nil if the machine keeps one from being read.
  private func contents(
    of names: [String], _ context: inout DecodingContext
  ) -> [(name: String, contents: [UInt8])]? {
    var found: [(name: String, contents: [UInt8])] = []
    for name in names {
      guard OwnTemplates.fileNames.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
        let near = NearestKey.find(name, among: OwnTemplates.fileNames).map { "did you mean \($0)? " } ?? ""
        report(
          "/\(name)", "is not a template of the gateway",
          remedy: "\(near)the names are \(OwnTemplates.fileNames.joined(separator: ", "))", &context)
        continue
      }
      switch files.read("\(folder)/\(name)", OwnTemplates.sizeLimit) {
      case .contents(let bytes, _): found.append((name, bytes))
      case .missing: break  // Removed since the folder was read.
      case .notRegular: report("/\(name)", "is not a regular file", remedy: "put a file there", &context)
      case .tooLong: report("/\(name)", "has more than 64 KiB", remedy: "make it shorter", &context)
      case .unreadable(let reason):
        report("/\(name)", "cannot be read (\(reason))", remedy: "grant read access to the gateway's user", &context)
      case .failed(let reason):
        context.report(
          at: path, "\(path): \(context.shown("\(folder)/\(name)")) cannot be read now (\(reason))",
          remedy: FileAccess.failureRemedy, cause: .machine)
        return nil
      }
    }
    return found
  }

  /// - Parameter file: what follows the folder: `/` and the name of a file, perhaps with a place in it; empty for the
  ///   folder itself.
  private func report(
    _ file: String, _ problem: String, separator: String = " ", remedy: String, _ context: inout DecodingContext
  ) {
    context.report(at: path, "\(path): \(context.shown(folder + file))\(separator)\(problem)", remedy: remedy)
  }
}
