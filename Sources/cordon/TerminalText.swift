/// Text that came from elsewhere, fit for a terminal: control characters, and what turns the direction of the text
/// beside it, become `?`.
func printable(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.map { isTroublesome($0) ? "?" : $0 }))
}

private func isTroublesome(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .lineSeparator, .paragraphSeparator: true
  case .format: scalar.properties.isBidiControl
  default: false
  }
}
