import Foundation
import Logging
import Testing

@testable import Operations

@Suite("The log of events")
struct CordonLogHandlerTests {
  private func logged(_ format: LogSettings.Format = .json, _ act: (inout Logger) -> Void) throws -> String {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    var settings = LogSettings()
    settings.format = format
    let chosen = settings
    var logger = Logger(label: "cordon.test") { label in
      CordonLogHandler(
        label: label, control: LogControl(chosen, output: output), output: output,
        clock: { Timestamp(microseconds: 0) })
    }
    act(&logger)
    output.flush(atMost: patience)
    try pipe.fileHandleForWriting.close()
    return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }

  @Test("An event is one JSON object with its metadata")
  func json() throws {
    let line = try logged { $0.warning("Apple did not answer", metadata: ["endpoint": "token", "attempt": "2"]) }
    #expect(
      line
        == #"{"time":"1970-01-01T00:00:00.000Z","kind":"event","level":"warning","message":"Apple did not answer","#
        + #""logger":"cordon.test","attempt":"2","endpoint":"token"}"# + "\n")
  }

  /// The lines of a log whose sink has dropped one, and then taken another.
  private func logged(withGapAt level: LogSettings.Level) throws -> [String] {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 100)
    var settings = LogSettings()
    settings.level = level
    let control = LogControl(settings, output: output)
    output.write(([UInt8](repeating: 0x61, count: 100) + [0x0A]).span)
    output.write(Array("fits\n".utf8).span)
    output.flush(atMost: patience)
    try pipe.fileHandleForWriting.close()
    return try withExtendedLifetime(control) {
      String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        .split(separator: "\n").map(String.init)
    }
  }

  @Test("A warning tells how many lines were dropped, and since when")
  func gap() throws {
    let lines = try logged(withGapAt: .warning)
    #expect(lines.count == 2 && lines.first == "fits")
    let last = try #require(lines.last)
    let event = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: String])
    #expect(event["message"] == "log lines were dropped" && event["level"] == "warning")
    #expect(event["bytes"] == "101" && event["lines"] == "1" && event["kind"] == "event")
    #expect(event["since"]?.wholeMatch(of: /20\d\d-\d\d-\d\dT[0-9:.]+Z/) != nil)
  }

  @Test("Dropped lines are not told of where warnings are not written", arguments: [LogSettings.Level.error, .off])
  func silentGap(level: LogSettings.Level) throws {
    #expect(try logged(withGapAt: level) == ["fits"])
  }

  @Test("An event is one line of text")
  func text() throws {
    let line = try logged(.text) { $0.info("listening", metadata: ["address": "127.0.0.1:8080"]) }
    #expect(
      line
        == "1970-01-01T00:00:00.000Z event info message=listening logger=cordon.test address=127.0.0.1:8080\n")
  }

  @Test("Metadata of the logger is logged, the event's own takes precedence, and no key is repeated")
  func merge() throws {
    let line = try logged { logger in
      logger[metadataKey: "request"] = "outer"
      logger.error("x", metadata: ["request": "inner", "level": "fake"])
    }
    #expect(line.contains(#""metadata_level":"fake","request":"inner""#))
    #expect(line.components(separatedBy: #""level":"#).count == 2)
    #expect(!line.contains("outer"))
  }

  @Test("Control characters of a value are escaped, in keys too", arguments: [LogSettings.Format.json, .text])
  func escapes(format: LogSettings.Format) throws {
    let line = try logged(format) { $0.info("x", metadata: ["k\n": "a\r\nb", "list": ["x\n", "y"]]) }
    #expect(line.utf8.filter { $0 == 0x0A || $0 == 0x0D }.count == 1)
  }

  @Test("Events below the level are not written")
  func level() throws {
    #expect(try logged { $0.debug("hidden") }.isEmpty)
  }

  @Test("An error is logged as metadata")
  func error() throws {
    struct Broken: Error {}
    let line = try logged { $0.error("failed", error: Broken()) }
    #expect(line.contains(#""error":"Broken()""#))
  }

  @Test("The settings choose level and format")
  func settings() {
    var settings = LogSettings()
    settings.level = .error
    let control = LogControl(settings)
    let handler = CordonLogHandler(label: "x", control: control)
    #expect(handler.logLevel == .error)
    var own = handler
    own.logLevel = .trace
    #expect(own.logLevel == .trace && handler.logLevel == .error, "a logger's own level is its own")
    settings.level = .debug
    control.apply(settings)
    #expect(handler.logLevel == .debug, "other settings hold for the loggers that there are")
    let file = LogSink(descriptor: -1)
    #expect(settings.format(for: file) == .json)
    settings.format = .text
    #expect(settings.format(for: file) == .text)
    #expect(
      LogSettings.Level.allCases.compactMap(\.swiftLog?.rawValue)
        == LogSettings.Level.allCases.map(\.rawValue).filter { $0 != "off" })
  }
}
