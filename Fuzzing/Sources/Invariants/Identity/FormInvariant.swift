import AppleIdentity
import Secrets
import WebFormats

extension Invariant {
  /// An accepted form is within its bounds and has the same fields when they are written and read again; a response of
  /// Apple that is read from it contains no character that could split a log line or a header.
  static let form = Invariant("form") { bytes in
    let form: FormFields
    do throws(FormFieldsError) {
      form = try FormFields(parsing: bytes)
    } catch {
      try require(!error.message.isEmpty, "no reason")
      return
    }
    let limits = FormFields.Limits()
    try require(form.fields.count <= limits.fields, "\(form.fields.count) fields")
    for field in form.fields {
      try require((1...limits.nameBytes).contains(field.name.count), "a name of \(field.name.count) bytes")
    }
    var roomy = limits
    roomy.bytes *= 3
    let again = try? FormFields(parsing: encoded(form), limits: roomy)
    try require(again == form, "read again it is \(String(describing: again)), not \(form)")

    guard let answer = try? AuthorizationResponse.parse(form) else { return }
    switch answer {
    case .error(let refusal): try requirePlain(refusal.error, refusal.state ?? "")
    case .success(let grant):
      try requirePlain(grant.code.exposed, grant.state, grant.identityToken?.exposed ?? "")
      try require(!grant.code.exposed.isEmpty && !grant.state.isEmpty, "granted without code or state")
      if let user = grant.user { try requireNames(of: user) }
    }
  }

  /// Everything percent-encoded.
  private static func encoded(_ form: FormFields) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    func escaped(_ bytes: [UInt8]) -> [UInt8] { bytes.flatMap { [0x25, digits[Int($0 >> 4)], digits[Int($0 & 15)]] } }
    return Array(form.fields.map { escaped($0.name) + [0x3D] + escaped($0.value) }.joined(separator: [0x26]))
  }

  private static func requirePlain(_ texts: String...) throws(Violation) {
    for text in texts {
      try require(text.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "not plain: \(shown(text.utf8))")
    }
  }
}

/// Submitted names are short, and hold nothing that is not visible text.
func requireNames(of user: SubmittedUser) throws(Violation) {
  for name in [user.givenName, user.familyName].compactMap({ $0 }) {
    try require(!name.isEmpty && name.utf8.count <= 256, "a name of \(name.utf8.count) bytes")
    for scalar in name.unicodeScalars {
      let isJoiner = scalar.value == 0x200C || scalar.value == 0x200D
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
        throw Violation(description: "a name holds U+\(String(scalar.value, radix: 16)): \(shown(name.utf8))")
      case .format where !isJoiner:
        throw Violation(description: "a name holds U+\(String(scalar.value, radix: 16)): \(shown(name.utf8))")
      default: break
      }
    }
  }
}
