/// The time that a test gives the thread of a sink to write: longer than it takes on a machine that is busy.
let patience = Duration.seconds(120)
