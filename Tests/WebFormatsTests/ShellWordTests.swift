import Testing

@testable import WebFormats

@Suite("Words of shell commands")
struct ShellWordTests {
  @Test(
    "A text that a shell leaves as it is stays so, and so do variables",
    arguments: [
      "/etc/cordon/session.key", "gateway.conf", "/srv/größe/a_b@c%d+e=f:g,h-i", "${CREDENTIALS_DIRECTORY}/session.key",
    ])
  func plain(text: String) {
    #expect(ShellWord.quoting(text) == text)
  }

  @Test(
    "A text that a shell would split or change is quoted, and stays the same text",
    arguments: [
      ("/srv/my app/session.key", #""/srv/my app/session.key""#), ("", "\"\""), ("~x", #""~x""#),
      ("a{b,c}*", #""a{b,c}*""#), ("a;b&c|d(e)<f>", #""a;b&c|d(e)<f>""#), ("it's", #""it's""#),
      (#"a$b`c"d\e"#, #""a\$b\`c\"d\\e""#), ("${DIR}/my app", #""${DIR}/my app""#), ("${A}$b", #""${A}\$b""#),
      ("a\nb", "\"a\nb\""), ("${A", #""\${A""#), ("${}", #""\${}""#), ("${1}", #""\${1}""#),
      ("${A b}", #""\${A b}""#), ("${A:-$(b)}", #""\${A:-\$(b)}""#), ("$${A}", #""\$${A}""#),
    ])
  func quoted(text: String, word: String) {
    #expect(ShellWord.quoting(text) == word)
  }
}
