import Testing

@testable import Gateway

@Suite("The pages of code")
struct CodePagesTests {
  @Test("Code of a file is given back")
  func code() {
    #expect(
      CodePages.code(in: "55d0c0a00000-55d0c3200000 r-xp 00001000 fe:01 1835    /usr/bin/cordon\n")
        == 0x55d0_c0a0_0000..<0x55d0_c320_0000)
  }

  @Test(
    "A socket that is written to, belongs to no file or cannot be read is left alone",
    arguments: [
      "7f00-7f10 rw-p 00001000 fe:01 1835 /usr/bin/cordon", "7f00-7f10 rwxp 00000000 fe:01 1835 /usr/bin/cordon",
      "7f00-7f10 r--p 00000000 fe:01 1835 /usr/bin/cordon", "7f00-7f10 r-xp 00000000 00:00 0 [vdso]",
      "7f00-7f10 r-xp 00000000 00:00 0", "7f10-7f00 r-xp 00000000 fe:01 1835 /usr/bin/cordon",
      "zzzz-7f00 r-xp 00000000 fe:01 1835 /usr/bin/cordon", "7f00 r-xp 00000000 fe:01 1835 /usr/bin/cordon", "",
    ])
  func anythingElse(line: String) { #expect(CodePages.code(in: line) == nil) }

  @Test("A process goes on when its code was given back")
  func goesOn() {
    CodePages.release()
    #expect([3, 1, 2].sorted() == [1, 2, 3])
  }
}
