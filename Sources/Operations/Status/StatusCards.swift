internal import WebFormats

/// The cards of the status page: a number with its plot each.
extension StatusReport {
  var cards: [Markup] {
    let hour = summary(ofLast: 3_600)
    let minutes = minutes
    return [
      requestsCard(hour, minutes), latencyCard(minutes), errorsCard(hour, minutes), appleCard(hour, minutes),
      sessionsCard(hour, minutes), revalidationCard(hour, minutes),
    ]
  }

  private func requestsCard(_ hour: Summary, _ minutes: [Summary?]) -> Markup {
    card(
      "Requests", StatusNumbers.short(summary(ofLast: 60).rate), unit: "a second",
      note: "\(StatusNumbers.grouped(hour.counted.requests)) in the last hour, \(totals.inFlight) in flight",
      plot: StatusPlot(
        lines: [.init(values: minutes.map { $0?.rate })], label: "Requests a second in the last hour",
        write: { "\(StatusNumbers.short($0)) a second" }))
  }

  private func latencyCard(_ minutes: [Summary?]) -> Markup {
    let recent = summary(ofLast: 300).counted.latency
    return card(
      "Latency", StatusNumbers.latency(recent.quantile(0.5)), unit: "median",
      note: "p99 \(StatusNumbers.latency(recent.quantile(0.99))), over five minutes",
      plot: StatusPlot(
        lines: [
          .init(name: "p99", look: .beside, values: minutes.map { $0?.counted.latency.quantile(0.99) }),
          .init(name: "median", values: minutes.map { $0?.counted.latency.quantile(0.5) }),
        ], label: "99th percentile and median of the latency in the last hour", write: StatusNumbers.latency))
  }

  private func errorsCard(_ hour: Summary, _ minutes: [Summary?]) -> Markup {
    let minute = summary(ofLast: 60)
    return card(
      "Errors", StatusNumbers.percent(minute.errorPart ?? (minute.seconds > 0 ? 0 : nil)), unit: "of answers",
      note: "\(StatusNumbers.grouped(hour.counted.serverErrors)) of status 5xx and "
        + "\(StatusNumbers.grouped(hour.counted.clientErrors)) of 4xx in the last hour",
      plot: StatusPlot(
        lines: [.init(look: .trouble, values: Self.counts(minutes, \.serverErrors))],
        label: "Answers of status 5xx in each minute of the last hour", write: Self.aMinute),
      isBad: minute.counted.serverErrors > 0)
  }

  private func appleCard(_ hour: Summary, _ minutes: [Summary?]) -> Markup {
    card(
      "Apple", appleWord(hour), unit: "in the last hour",
      note: "\(StatusNumbers.counted(hour.counted.appleAnswered, "call")) answered, "
        + "\(StatusNumbers.grouped(hour.counted.appleFailed)) failed",
      plot: StatusPlot(
        lines: [
          .init(name: "answered", values: Self.counts(minutes, \.appleAnswered)),
          .init(name: "failed", look: .trouble, values: Self.counts(minutes, \.appleFailed)),
        ], label: "Calls that Apple answered, and those that failed, in each minute of the last hour",
        write: Self.aMinute),
      isBad: hour.counted.appleFailed > 0)
  }

  private func sessionsCard(_ hour: Summary, _ minutes: [Summary?]) -> Markup {
    card(
      "Sessions", StatusNumbers.grouped(UInt64(clamping: sessions)), unit: "in memory",
      note: "\(StatusNumbers.counted(hour.counted.signIns, "sign-in")), "
        + "\(StatusNumbers.grouped(hour.counted.signInsFailed)) failed, "
        + "\(StatusNumbers.grouped(hour.counted.sessionsEnded)) ended in the last hour",
      plot: StatusPlot(
        lines: [.init(name: "sign-ins", values: Self.counts(minutes, \.signIns))],
        label: "Sign-ins in each minute of the last hour", write: Self.aMinute))
  }

  private func revalidationCard(_ hour: Summary, _ minutes: [Summary?]) -> Markup {
    card(
      "Revalidation", StatusNumbers.grouped(hour.counted.checksGood), unit: "good",
      note: "\(StatusNumbers.grouped(hour.counted.checksOther)) with another verdict in the last hour",
      plot: StatusPlot(
        lines: [
          .init(name: "good", values: Self.counts(minutes, \.checksGood)),
          .init(name: "other", look: .trouble, values: Self.counts(minutes, \.checksOther)),
        ],
        label: "Revalidations with Apple in each minute of the last hour: good ones, and those with another verdict",
        write: Self.aMinute))
  }

  /// One number of each minute, for a plot.
  private static func counts(_ minutes: [Summary?], _ number: KeyPath<StatusTotals, UInt64>) -> [Double?] {
    minutes.map { minute in minute.map { Double($0.counted[keyPath: number]) } }
  }

  private static func aMinute(_ count: Double) -> String { "\(StatusNumbers.whole(count)) a minute" }

  private func appleWord(_ hour: Summary) -> String {
    let (good, bad) = (hour.counted.appleAnswered, hour.counted.appleFailed)
    if good &+ bad == 0 { return "Not asked" }
    if bad == 0 { return "Answers" }
    return good == 0 ? "No answer" : "Troubled"
  }

  private func card(
    _ title: String, _ value: String, unit: String, note: String, plot: StatusPlot, isBad: Bool = false
  ) -> Markup {
    """
    <section class="card\(isBad ? Markup(" bad") : "")"><h2>\(title)</h2>\
    <p class="value"><strong>\(value)</strong> <span>\(unit)</span></p>\(plot.svg)\
    <p class="axis"><span>an hour ago</span><span>now</span></p>\(plot.legend)<p class="note">\(note)</p></section>

    """
  }
}
