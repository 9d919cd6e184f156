/// Valid custom templates, which replace the standard ones of the same names, and a custom stylesheet.
///
/// They are a subset of Mustache: values, sections, comments, and the layout with its block. A value is escaped
/// whatever its braces. It is permitted between tags and in quoted attributes only.
package struct OwnTemplates: Sendable, Equatable, CustomStringConvertible {
  /// By name.
  let templates: [PageTemplates.Name: Template]
  let stylesheet: OwnStylesheet?

  /// None: all pages have the standard templates.
  package init() { (templates, stylesheet) = ([:], nil) }

  /// Reads files.
  /// - Parameter files: names as in `sign-in.mustache`, and contents.
  /// - Throws: everything that is wrong with them.
  package init(files: [(name: String, contents: [UInt8])]) throws(TemplateError) {
    var (templates, stylesheet): ([PageTemplates.Name: Template], OwnStylesheet?) = ([:], nil)
    var problems: [TemplateDiagnostic] = []
    for (file, contents) in files {
      if file == Self.stylesheetName {
        do throws(TemplateError) { stylesheet = try OwnStylesheet(contents) } catch { problems += error.problems }
      } else if let name = PageTemplates.Name.allCases.first(where: { Self.fileName($0) == file }) {
        do throws(TemplateError) { templates[name] = try OwnTemplate(contents, of: name).template } catch {
          problems += error.problems
        }
      } else {
        problems.append(
          TemplateDiagnostic(file: file, problem: "there is no page of this name", remedy: Self.nameRemedy))
      }
    }
    guard problems.isEmpty else { throw TemplateError(problems) }
    (self.templates, self.stylesheet) = (templates, stylesheet)
  }

  /// Whether a failure page of the operator's own has no section for users who may ask for access.
  package var lacksRequestSection: Bool {
    templates[.failure].map { !$0.hasSection(TemplateRules.requestSection) } ?? false
  }

  /// The names that files may have.
  package static var fileNames: [String] { PageTemplates.Name.allCases.map(fileName) + [stylesheetName] }

  /// Most bytes of a file: 64 KiB.
  package static let sizeLimit = 65_536

  /// The names of the files that there are.
  package var description: String {
    let names = PageTemplates.Name.allCases.filter { templates[$0] != nil }.map(Self.fileName)
    let all = names + (stylesheet == nil ? [] : [Self.stylesheetName])
    return all.isEmpty ? "none" : all.joined(separator: ", ")
  }

  static let stylesheetName = "style.css"
  static func fileName(_ name: PageTemplates.Name) -> String { "\(name.rawValue).mustache" }
  private static var nameRemedy: String { "the names are \(fileNames.joined(separator: ", "))" }
}

/// A problem of a template.
package struct TemplateDiagnostic: Sendable, Equatable {
  /// The file's name, as in `sign-in.mustache`.
  package var file: String
  /// The location; nil for the whole file.
  package var place: Place?
  /// The problem, without the place: `there is no page of this name`.
  package var problem: String
  /// The thing to do about it, in the imperative.
  package var remedy: String

  /// A place in a file.
  package struct Place: Sendable, Equatable {
    /// From 1.
    package var line: Int
    /// From 1, in bytes.
    package var column: Int
  }
}

/// Everything that is wrong with templates; at least one problem.
package struct TemplateError: Error, Equatable {
  /// By file, in the order of each.
  package var problems: [TemplateDiagnostic]

  init(_ problems: [TemplateDiagnostic]) { self.problems = problems }
}
