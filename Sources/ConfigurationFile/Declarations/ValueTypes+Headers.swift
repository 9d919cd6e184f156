import Sessions

/// Tables of headers.
extension ValueType where Value == [IdentityHeaderSettings.Header] {
  /// A table whose keys are header names and whose values are claims or templates, in the order of the file.
  static var headers: ValueType {
    ValueType(
      name: "table of header = claim",
      read: { node, path, context in
        HeaderTable.read(
          node, at: path, &context, example: "header = \"claim\"", checkName: IdentityHeaderText.checkName,
          readValue: value)
      },
      write: { HeaderTable.write($0.map { ($0.name, $0.source) }) })
  }

  private static func value(
    _ name: String, _ node: Node, _ path: NodePath, _ context: inout DecodingContext
  ) -> IdentityHeaderSettings.Header? {
    if case .string(let written) = node, HeaderTemplateText.isTemplate(written) {
      return HeaderTemplateText.parse(node, at: path, &context).map {
        IdentityHeaderSettings.Header(name: name, template: $0)
      }
    }
    guard let claim = context.text(node, at: path, expected: "a claim, as in \"sub\"") else { return nil }
    do throws(Diagnostic) {
      try IdentityHeaderText.checkClaim(claim.value)
    } catch {
      context.report(at: path, "\(path): \(claim.shown) \(error.problem)", remedy: error.remedy)
      return nil
    }
    return IdentityHeaderSettings.Header(name: name, claim: claim.value)
  }
}

extension ValueType where Value == [UpstreamHeaderSettings.Header] {
  /// A table whose keys are header names and whose values are templates, in the order of the file.
  static var templates: ValueType {
    ValueType(
      name: "table of header = template",
      read: { node, path, context in
        HeaderTable.read(
          node, at: path, &context, example: "header = \"value\"", checkName: IdentityHeaderText.checkUpstreamName
        ) { name, node, path, context in
          HeaderTemplateText.parse(node, at: path, &context).map {
            UpstreamHeaderSettings.Header(name: name, value: $0)
          }
        }
      },
      write: { HeaderTable.write($0.map { ($0.name, $0.value.source) }) })
  }
}

extension ValueType where Value == BasicCredentialsTemplate {
  /// A table of `user` and `password`.
  static var basic: ValueType {
    ValueType(
      name: "table of user and password",
      read: { node, path, context in
        guard case .table(let table) = node else {
          context.report(
            at: path, "\(path) is \(node.describedKind)", remedy: "write a table [\(path)] of user and password")
          return nil
        }
        for key in table.keys where key != "user" && key != "password" {
          context.report(
            atKey: path.appending(key), "there is no key \(path).\(key)", remedy: "the keys are user and password")
        }
        for key in ["user", "password"] where table[key] == nil {
          context.report(
            atKey: path, "\(path) has no \(key)",
            remedy: "write \(key) = \(key == "user" ? "\"{email}\"" : "\"${LEGACY_PASSWORD}\"")")
        }
        guard table.count == 2, let user = table["user"], let password = table["password"] else { return nil }
        let templates = (
          HeaderTemplateText.parse(user, at: path.appending("user"), &context),
          HeaderTemplateText.parse(password, at: path.appending("password"), &context)
        )
        guard let user = templates.0, let password = templates.1 else { return nil }
        let credentials = BasicCredentialsTemplate(user: user, password: password)
        guard !credentials.alwaysHasColonInUser else {
          context.report(
            atKey: path.appending("user"), "\(path).user has a colon, which would end the user (RFC 7617, 2)",
            remedy: "remove it, or write what follows it as the password")
          return nil
        }
        return credentials
      },
      write: { HeaderTable.write([("user", $0.user.source), ("password", $0.password.source)]) })
  }
}

/// Tables whose keys are header names.
private enum HeaderTable {
  static func read<Header>(
    _ node: Node, at path: NodePath, _ context: inout DecodingContext, example: String,
    checkName: (String) throws(Diagnostic) -> Void,
    readValue: (String, Node, NodePath, inout DecodingContext) -> Header?
  ) -> [Header]? {
    guard case .table(let table) = node else {
      context.report(at: path, "\(path) is \(node.describedKind)", remedy: "write a table [\(path)] of \(example)")
      return nil
    }
    var headers: [Header] = []
    var seen: [String] = []
    var isGood = true
    let places = context
    let names = table.keys.sorted { places.location(of: path.appending($0)) < places.location(of: path.appending($1)) }
    for name in names {
      let namePath = path.appending(name)
      do throws(Diagnostic) {
        try checkName(name)
      } catch {
        context.report(
          atKey: namePath, "\(path): \(WrittenText(value: name, written: name).shown) \(error.problem)",
          remedy: error.remedy)
        isGood = false
        continue
      }
      guard let header = readValue(name, table[name] ?? .moment, namePath, &context) else {
        isGood = false
        continue
      }
      if let twin = seen.first(where: { IdentityHeaderText.folded($0) == IdentityHeaderText.folded(name) }) {
        context.report(
          atKey: namePath, "\(path): \(name) and \(twin) are one header to many applications",
          remedy: "keep one of them")
        isGood = false
      }
      seen.append(name)
      headers.append(header)
    }
    return isGood ? headers : nil
  }

  static func write(_ headers: [(name: String, source: String)]) -> String {
    "{ \(headers.map { "\($0.name) = \(TOMLText.quoted($0.source))" }.joined(separator: ", ")) }"
  }
}
