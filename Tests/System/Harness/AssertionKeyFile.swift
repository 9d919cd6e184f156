import Foundation
import TemporaryDirectoryTesting

/// A key for `assertion.key_files`, made by `cordon keygen`.
@SystemActor
struct AssertionKeyFile {
  private let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = "\(directory.path)/assertion.pem"
    let made = try ServerProcess.run(
      Machine.binary("cordon"), ["keygen", "--assertion", "--output", path], directory: directory.path)
    guard made.exit == .code(0) else { throw HarnessError.malformed(made.standardError) }
  }
}

/// A JWT taken apart, unverified.
struct JWTParts {
  let header: [String: Any]
  let claims: [String: Any]
  let parts: [String]

  init(_ token: String) throws {
    parts = token.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    guard parts.count == 3 else { throw HarnessError.malformed("a JWT: \(token)") }
    header = try Self.object(parts[0])
    claims = try Self.object(parts[1])
  }

  /// A token of these members with another's signature.
  static func token(header: [String: Any], claims: [String: Any], signature: String) throws -> String {
    let encoded = try [header, claims].map { encode(try JSONSerialization.data(withJSONObject: $0)) }
    return "\(encoded[0]).\(encoded[1]).\(signature)"
  }

  private static func object(_ part: String) throws -> [String: Any] {
    let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    guard let data = Data(base64Encoded: padded),
      let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { throw HarnessError.malformed("a part of a JWT: \(part)") }
    return object
  }

  private static func encode(_ data: Data) -> String {
    data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }
}
