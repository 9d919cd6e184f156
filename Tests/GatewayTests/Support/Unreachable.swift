/// Longer than any test takes, also on a machine that stands still: for time limits of the code under test that must
/// not end anything.
let unreachable = Duration.seconds(3_600)
