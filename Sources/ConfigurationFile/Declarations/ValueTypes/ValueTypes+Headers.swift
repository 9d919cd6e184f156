import DataPlane
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
          node, at: path, &context, example: "header = \"value\"", checkName: IdentityHeaderText.checkUpstreamName,
          readValue: value)
      },
      write: { HeaderTable.write($0.map { ($0.name, $0.value.source) }) })
  }

  private static func value(
    _ name: String, _ node: Node, _ path: NodePath, _ context: inout DecodingContext
  ) -> UpstreamHeaderSettings.Header? {
    HeaderTemplateText.parse(node, at: path, &context).map { UpstreamHeaderSettings.Header(name: name, value: $0) }
  }
}

extension ValueType where Value == [ResponseHeader] {
  /// A table whose keys are the names of response headers, in the order of the file.
  static var responseHeaders: ValueType {
    ValueType(
      name: "table of header = text",
      read: { node, path, context in
        HeaderTable.read(
          node, at: path, &context, example: "header = \"value\"", checkName: ResponseHeaderText.checkName,
          twinProblem: { ResponseHeaderText.isSame($0, $1) ? " names this header twice" : nil }, readValue: value)
      },
      write: { headers in
        headers.isEmpty ? "{}" : HeaderTable.write(headers.map { ($0.name, $0.value) })
      })
  }

  private static func value(
    _ name: String, _ node: Node, _ path: NodePath, _ context: inout DecodingContext
  ) -> ResponseHeader? {
    guard let value = context.text(node, at: path, expected: "a text, as in \"max-age=31536000\"") else { return nil }
    do throws(Diagnostic) {
      try ResponseHeaderText.checkValue(value.value)
    } catch {
      context.report(at: path, "\(path): \(value.shown) \(error.problem)", remedy: error.remedy)
      return nil
    }
    return ResponseHeader(name: name, value: value.value)
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
  /// - Parameter twinProblem: the problem of two names that are one header, to follow the path of the table; nil for
  ///   the names of two.
  static func read<Header>(
    _ node: Node, at path: NodePath, _ context: inout DecodingContext, example: String,
    checkName: (String) throws(Diagnostic) -> Void,
    twinProblem: (_ name: String, _ twin: String) -> String? = Self.foldedTwinProblem,
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
      if let problem = seen.compactMap({ twinProblem(name, $0) }).first {
        context.report(atKey: namePath, "\(path)\(problem)", remedy: "keep one of them")
        isGood = false
      }
      seen.append(name)
      headers.append(header)
    }
    return isGood ? headers : nil
  }

  private static func foldedTwinProblem(_ name: String, _ twin: String) -> String? {
    IdentityHeaderText.folded(name) == IdentityHeaderText.folded(twin)
      ? ": \(name) and \(twin) are one header to many applications" : nil
  }

  static func write(_ headers: [(name: String, source: String)]) -> String {
    "{ \(headers.map { "\($0.name) = \(TOMLText.quoted($0.source))" }.joined(separator: ", ")) }"
  }
}
