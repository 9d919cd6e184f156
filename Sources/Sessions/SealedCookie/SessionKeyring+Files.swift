internal import Secrets

extension SessionKeyring {
  /// Reads the secrets from their files: any bytes, one trailing newline dropped, at least 32 left. The files must be
  /// private (`PrivateFile`).
  ///
  /// - Throws: `KeyringError` with the file and the remedy.
  package init(files: [String]) throws(KeyringError) {
    var secrets: [(path: String?, secret: SessionSecret)] = []
    for path in files {
      do throws(PrivateFileError) {
        // One more than the longest, for the newline that is dropped.
        secrets.append(
          (path: path, secret: SessionSecret(try PrivateFile.read(path, limit: Self.maximumSecretLength + 1))))
      } catch {
        if case .tooLong = error.reason { throw .tooLong(path: path) }
        throw .file(error)
      }
    }
    try self.init(secrets)
  }
}
