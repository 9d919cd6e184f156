/// Renders the reference of the configuration from its declarations.
package enum Reference {
  /// Every table and key, in Markdown that reads well on a terminal of 80 columns, too.
  package static func text() -> String {
    var parts = [
      """
      # The configuration of Cordon

      One file in TOML (https://toml.io). Unknown keys are errors. Durations are whole numbers with a unit: `ms`, `s`, \
      `m`, `h`, `d`. Sizes are whole numbers with `B`, `KiB`, `MiB`, `GiB`, or bytes without a unit. Relative paths are \
      relative to the file. `${NAME}` in a text is the environment variable of that name, `$${` is `${` itself. \
      `cordon check --config FILE` reports every error with its location and remedy. `cordon reload` applies changes, \
      except to keys that cannot change while the gateway runs.
      """
    ]
    for section in ConfigurationSchema.all { parts.append(text(of: section, header: "[\(section.name)]")) }
    parts.append(text(of: ConfigurationSchema.group, header: "[[group]]"))
    parts.append(text(of: ConfigurationSchema.listener, header: "[[listener]]"))
    parts.append(text(of: ConfigurationSchema.upstreams, header: "[[upstreams]]"))
    parts.append(text(of: ConfigurationSchema.upstreamsTimeouts, header: "[upstreams.timeouts]"))
    parts.append(text(of: ConfigurationSchema.host, header: "[[host]]"))
    parts.append(text(of: ConfigurationSchema.route, header: "[[route]]"))
    return parts.map { Prose.wrap($0, width: 80, prefix: "") }.joined(separator: "\n\n") + "\n"
  }

  private static func text<Target>(of section: Section<Target>, header: String) -> String {
    var blocks: [String] = section.name.isEmpty ? ["## At the top"] : ["## \(header)"]
    if !section.introduction.isEmpty { blocks.append(section.introduction) }
    blocks += section.entries.map { text(of: $0.description) }
    return blocks.joined(separator: "\n\n")
  }

  private static func text(of entry: SchemaKeyDescription) -> String {
    var lines = ["### `\(entry.key)`: \(entry.typeName)", "", entry.purpose, ""]
    if let unit = entry.unit { lines.append("- Unit: \(unit)") }
    switch entry.presence {
    case .required(let example): lines.append("- Required. Example: `\(example)`")
    case .withDefault(let value): lines.append("- Default: `\(value)`")
    case .optional(let example): lines.append("- No default. Example: `\(example)`")
    }
    if let omission = entry.omission { lines.append("- Without it: \(omission)") }
    if !entry.seeAlso.isEmpty { lines.append("- See also: \(entry.seeAlso.map { "`\($0)`" }.joined(separator: ", "))") }
    return lines.joined(separator: "\n")
  }
}
