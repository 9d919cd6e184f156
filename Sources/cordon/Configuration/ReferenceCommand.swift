import ArgumentParser
import ConfigurationFile

/// `cordon reference`: the configuration's reference, from the declarations that read it.
struct ReferenceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reference", abstract: "Prints the reference of the configuration: every key.")

  @Flag(name: .long, help: "Print a sample configuration instead: gateway.conf.sample.")
  var sample = false

  func run() { print(sample ? SampleFile.text() : Reference.text(), terminator: "") }
}
