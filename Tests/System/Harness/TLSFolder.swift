import Foundation
import TemporaryDirectoryTesting
import Testing

/// A folder with an authority (`ca.pem`) and certificates that it issued: `one` for localhost and one.test, `two` for
/// two.test, `new` for localhost and new.test. In it TLS is spoken from outside, by Python's ssl module.
@SystemActor
final class TLSFolder {
  let directory: TemporaryDirectory

  var path: String { directory.path }

  init() throws {
    directory = try TemporaryDirectory()
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    try openssl("req -x509 \(key) -days 99 -subj /CN=ca -keyout ca.key -out ca.pem")
    for (file, names) in [
      ("one", "DNS:localhost,DNS:one.test"), ("two", "DNS:two.test"), ("new", "DNS:localhost,DNS:new.test"),
    ] { try issue(file, names, key: key) }
  }

  /// Has the authority issue a certificate.
  /// - Parameter key: how its key is made, for `openssl req`.
  func issue(_ file: String, _ names: String, key: String) throws {
    try openssl("req -new \(key) -subj /CN=\(file) -keyout \(file).key -out \(file).csr")
    try directory.write("subjectAltName=\(names)\n", to: "\(file).ext")
    try openssl(
      "x509 -req -in \(file).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 99 -extfile \(file).ext -out \(file).pem"
    )
  }

  private func openssl(_ arguments: String) throws {
    let made = try ServerProcess.run(
      Machine.program("openssl", package: "openssl"), arguments.split(separator: " ").map(String.init), directory: path)
    guard made.exit == .code(0) else { throw HarnessError.malformed(made.standardError) }
  }

  /// A gateway that lets everybody in, with the certificate `one`.
  func gateway(
    before upstream: RawUpstream, ending: String = "", adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> GatewayProcess {
    try GatewayProcess.open(to: upstream) { configuration in
      configure(&configuration)
      configuration.ending += ending
      adjust(&configuration)
    }
  }

  /// Lets everybody in by TLS, with the certificate `one`.
  func configure(_ configuration: inout GatewayConfiguration) {
    configuration["", "public_url"] = "\"https://localhost:\(configuration.port)\""
    configuration["listen", "hosts"] = "[\"one.test\", \"two.test\", \"localhost\"]"
    configuration["listen", "tls_certificate_file"] = "\"\(path)/one.pem\""
    configuration["listen", "tls_private_key_file"] = "\"\(path)/one.key\""
    configuration["log", "format"] = "\"json\""
    configuration.ending = GatewayConfiguration.everythingPublic
  }

  /// Puts a copy of another file in the place of a file, at once, as tools that renew certificates do.
  func replace(_ name: String, by other: String) throws {
    try FileManager.default.copyItem(atPath: "\(path)/\(other)", toPath: "\(path)/\(name).new")
    guard rename("\(path)/\(name).new", "\(path)/\(name)") == 0 else {
      throw HarnessError.system("rename \(name)", errno: errno)
    }
  }

  /// As `replace`, for a certificate and its key.
  func replaceCertificate(_ name: String, by other: String) throws {
    for suffix in ["key", "pem"] { try replace("\(name).\(suffix)", by: "\(other).\(suffix)") }
  }

  /// Adds a certificate that another authority has issued, `bad`.
  func addStranger() throws {
    let stranger = try TLSFolder()
    for suffix in ["key", "pem"] {
      try FileManager.default.copyItem(atPath: "\(stranger.path)/two.\(suffix)", toPath: "\(path)/bad.\(suffix)")
    }
  }

  /// Runs a script to its end; it prints "ok" when everything was as it should be.
  func run(_ script: String, _ arguments: [String]) throws {
    let process = try start(script, arguments)
    defer { process.stop() }
    let exit = try process.waitForExit(by: .seconds(60))
    try process.waitForEndOfOutput()
    #expect(
      exit == .code(0) && process.standardOutput.hasSuffix("ok\n"), "\(process.standardOutput)\(process.standardError)")
  }

  /// Starts a script that begins with ``prelude``.
  func start(_ script: String, _ arguments: [String]) throws -> ServerProcess {
    let file = try directory.write(Self.prelude + script, to: "script.py")
    return try ServerProcess(Machine.program("python3", package: "python3"), [file] + arguments, directory: path)
  }

  /// Starts a server with the certificate `two` that answers by `answer(connection, path)`, and asks for a certificate.
  func server(port: UInt16, _ answer: String) throws -> ServerProcess {
    let server = try start(
      """
      \(answer)
      names = {}
      def serve(raw):
        try: s = c.wrap_socket(raw, server_side=True)
        except OSError: return
        while True:
          data = b""
          while b"\\r\\n\\r\\n" not in data:
            more = s.recv(65536)
            if not more: return
            data += more
          if not answer(s, data.split()[1].decode()): return s.close()
      c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      c.load_cert_chain("two.pem", "two.key")
      c.load_verify_locations("ca.pem")
      c.verify_mode = ssl.CERT_OPTIONAL
      c.sni_callback = lambda s, name, _: names.__setitem__(s, name)
      listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
      print("listening", flush=True)
      while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
      """, ["\(port)"])
    try server.waitForLine(containing: "listening")
    return server
  }

  private static let prelude = """
    import os, resource, shutil, signal, socket, ssl, sys, threading, time, urllib.request
    def context(version=None, cert=None, alpn=None):
      c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
      # Debian's Python takes an end that nobody announced for an announced one, unless told otherwise.
      c.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
      c.load_verify_locations("ca.pem")
      if cert: c.load_cert_chain(cert + ".pem", cert + ".key")
      if version: c.minimum_version = c.maximum_version = version
      if alpn: c.set_alpn_protocols(alpn)
      return c
    def connect(port, name, c, session=None):
      raw = socket.create_connection(("127.0.0.1", port), timeout=50)
      return c.wrap_socket(raw, server_hostname=name, session=session, suppress_ragged_eofs=False)
    def get(s, host, path="/"):
      s.sendall(f"GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
      data = b""
      while b"\\r\\n\\r\\n" not in data:
        more = s.recv(65536)
        if not more: raise EOFError(data)
        data += more
      head, body = data.split(b"\\r\\n\\r\\n", 1)
      length = int([l for l in head.split(b"\\r\\n") if l.lower().startswith(b"content-length")][0].split(b":")[1])
      while len(body) < length: body += s.recv(65536)
      return int(head.split()[1]), body.decode()
    def names(s): return [v for k, v in s.getpeercert()["subjectAltName"]]
    def within(seconds, what):
      end = time.monotonic() + seconds
      while time.monotonic() < end:
        if what(): return
        time.sleep(0.1)
      raise SystemExit("in vain")
    BOTH = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]

    """
}
