import Foundation
import TemporaryDirectoryTesting
import Testing

// What is found before a start instead of after it.
//
// - cordon check: a certificate and a key that do not belong together, a certificate for another host, a file of
//   another key, a missing folder of the store.
// - cordon doctor: a return URL that is not registered.
// - cordon init: a configuration with which cordon reload works as its first lines say.

@SystemActor
@Suite("Found before the start")
struct CheckTests {
  private func check(_ configuration: GatewayConfiguration) throws -> (exit: ServerProcess.Exit, text: String) {
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["check", "--config", file], directory: directory.path)
    return (result.exit, result.standardOutput + result.standardError)
  }

  private func secure(_ folder: TLSFolder, certificate: String, key: String) throws -> GatewayConfiguration {
    var configuration = try GatewayConfiguration()
    folder.configure(&configuration)
    configuration["listen", "tls_certificate_file"] = "\"\(folder.path)/\(certificate)\""
    configuration["listen", "tls_private_key_file"] = "\"\(folder.path)/\(key)\""
    return configuration
  }

  @Test("check finds a key that does not belong to the certificate, at its line, and run ends with 78")
  func pair() throws {
    let folder = try TLSFolder()
    let configuration = try secure(folder, certificate: "one.pem", key: "two.key")
    let checked = try check(configuration)
    #expect(checked.exit == .code(78), "\(checked.text)")
    #expect(
      checked.text.contains("listen.tls_certificate_file") && checked.text.contains("does not belong"),
      "\(checked.text)")
    let directory = try TemporaryDirectory()
    let started = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", configuration.install(in: directory)], directory: directory.path)
    #expect(started.exit == .code(78), "\(started)")
    withExtendedLifetime(folder) {}
  }

  @Test("check takes the file with or without --config, and without a file the one of the package")
  func whichFile() throws {
    let directory = try TemporaryDirectory()
    let file = try GatewayConfiguration().install(in: directory)
    func cordon(_ arguments: String...) throws -> (exit: ServerProcess.Exit, text: String) {
      let result = try ServerProcess.run(Machine.binary("cordon"), arguments, directory: directory.path)
      return (result.exit, result.standardOutput + result.standardError)
    }
    #expect(try cordon("check", file).exit == .code(0))
    #expect(try cordon("check", file, "--config", file).exit == .code(64))
    for command in ["check", "run", "doctor", "ready", "reload"] {
      let help = try cordon(command, "--help").text
      #expect(help.contains("/etc/cordon/gateway.conf"), "\(help)")
    }
    // The machine of the tests has no gateway of its own.
    guard !FileManager.default.fileExists(atPath: "/etc/cordon/gateway.conf") else { return }
    for command in [["check"], ["run"], ["ready"], ["groups", "list"]] {
      let result = try ServerProcess.run(Machine.binary("cordon"), command, directory: directory.path)
      #expect(result.exit == .code(78), "\(result)")
      #expect(
        (result.standardOutput + result.standardError).contains(
          "/etc/cordon/gateway.conf:1:1: there is no such file; name another with --config, or make one with "
            + "`cordon init`"), "\(result)")
    }
  }

  @Test("check warns of a certificate that does not list the host of public_url, and of no other")
  func otherHost() throws {
    let folder = try TLSFolder()
    let right = try check(secure(folder, certificate: "one.pem", key: "one.key"))
    #expect(right.exit == .code(0) && !right.text.contains("warning"), "\(right.text)")
    let wrong = try check(secure(folder, certificate: "two.pem", key: "two.key"))
    #expect(wrong.exit == .code(0), "\(wrong.text)")
    #expect(wrong.text.contains("no certificate lists the host of public_url, localhost"), "\(wrong.text)")
    withExtendedLifetime(folder) {}
  }

  @Test("check warns of a CA for clients that issued the gateway's own certificate, and of a file without a CA")
  func clientAuthorities() throws {
    let folder = try TLSFolder()
    var configuration = try secure(folder, certificate: "one.pem", key: "one.key")
    func found(_ file: String) throws -> String {
      configuration["listen", "tls_client_ca_file"] = "\"\(folder.path)/\(file)\""
      let checked = try check(configuration)
      #expect(checked.exit == .code(0), "\(checked.text)")
      return checked.text
    }
    let own = try found("ca.pem")
    #expect(own.contains("warning: listen.tls_client_ca_file: the CA /CN=ca has also issued"), "\(own)")
    #expect(!own.contains("holds no CA certificate"), "\(own)")
    let pinned = try found("two.pem")
    #expect(pinned.contains("holds no CA certificate") && !pinned.contains("has also issued"), "\(pinned)")
    withExtendedLifetime(folder) {}
  }

  @Test("check warns of an upstream whose address is usually one of FastCGI, and of no other")
  func fastCGI() throws {
    for (url, isWarned) in [
      ("http://127.0.0.1:9000", true), ("unix:/run/php/php8.4-fpm.sock", true), ("unix:/run/php-fpm/www.sock", true),
      ("unix:/run/app/FastCGI.sock", true), ("http://127.0.0.1:3000", false), ("https://127.0.0.1:9000", false),
    ] {
      let checked = try check(try GatewayConfiguration(upstream: url))
      #expect(checked.exit == .code(0), "\(checked.text)")
      #expect(checked.text.contains("may speak FastCGI") == isWarned, "\(url): \(checked.text)")
    }
  }

  @Test("check warns of a store in a folder that is not there")
  func storeFolder() throws {
    var configuration = try GatewayConfiguration()
    configuration["store", "url"] = "\"sqlite:nowhere/cordon.db\""
    let checked = try check(configuration)
    #expect(checked.exit == .code(0) && checked.text.contains("install -d -m 0700"), "\(checked.text)")
  }

  @Test("check --quiet prints nothing where everything is in order")
  func quiet() throws {
    let directory = try TemporaryDirectory()
    let file = try GatewayConfiguration().install(in: directory)
    let result = try ServerProcess.run(Machine.binary("cordon"), ["check", "--quiet", "--config", file])
    #expect(result.exit == .code(0) && result.standardOutput.isEmpty && result.standardError.isEmpty, "\(result)")
  }

  @Test("check refuses --explain with --quiet, which would print more than errors and warnings")
  func quietExplanation() throws {
    let result = try ServerProcess.run(Machine.binary("cordon"), ["check", "--quiet", "--explain"])
    #expect(result.exit == .code(64) && result.standardError.contains("not both"), "\(result)")
  }

  @Test("The doctor finds a return URL that is not registered, and says so once")
  func returnURL() throws {
    let site = try Site()
    defer { site.stop() }
    var other = site.gateway.configuration
    other["", "path_prefix"] = "\"/elsewhere\""
    let directory = try TemporaryDirectory()
    let file = try other.install(in: directory)
    let result = try ServerProcess.run(
      Machine.binary("cordon"), ["doctor", "--config", file], directory: directory.path)
    #expect(result.exit == .code(1))
    let failures = result.standardOutput.split(separator: "\n").filter { $0.hasPrefix("FAIL") }
    #expect(failures.count == 1 && failures[0].contains("redirect URI"), "\(result.standardOutput)")
    #expect(failures.first?.contains("/elsewhere/callback") == true)
  }

  @Test("With the configuration that init writes, cordon reload works as its first lines say")
  func reloadAfterInit() throws {
    let directory = try TemporaryDirectory()
    let key = try directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey_ABC123DEFG.p8")
    let made = try ServerProcess.run(
      Machine.binary("cordon"),
      [
        "init", "--output", "made/gateway.conf", "--public-url", "https://app.example.com", "--client-id",
        "com.example.web", "--team-id", "DEF123GHIJ", "--key-file", key, "--listen",
        "127.0.0.1:\(try FreePort.take())",
      ], directory: directory.path)
    #expect(made.exit == .code(0), "\(made)")
    let file = "\(directory.path)/made/gateway.conf"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains("cordon reload --config FILE") && text.contains("address = \"unix:"), "\(text)")
    let gateway = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { gateway.stop() }
    try gateway.waitForLine(containing: "cordon is ready")
    for command in [["reload"], ["ready"], ["accounts", "list"]] {
      let done = try ServerProcess.run(Machine.binary("cordon"), command + ["--config", file])
      #expect(done.exit == .code(0), "\(command) \(done)")
    }
  }
}
