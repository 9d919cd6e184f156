internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Operations
internal import Sessions

/// `GET verify`: the gate's decision for another proxy (nginx `auth_request`, forward-auth, ext_authz), as a status.
extension LoopGate {
  func verify(_ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer) -> GateDecision {
    let route = wantedRoute(head, bytes, client)
    if case .deny = route.access { return status(.forbidden) }
    let entry: SessionEntry
    switch identify(head, bytes) {
    case .known(let known): entry = known
    case .ask(let work): return .wait(work)
    case .storeAway:
      if case .public = route.access { return status(.ok) }
      return status(.serviceUnavailable)
    case .nobody:
      if case .public = route.access { return status(.ok) }
      return status(.unauthorized)
    }
    if case .rules(let index) = route.access {
      if case .denied = entry.verdict(of: knowledge.routes.rules[index], knowledge) { return status(.forbidden) }
    }
    if let signing = renewAssertion(of: entry) { return .wait(signing) }
    var fields: HTTPFields = [:]
    let rendered = IdentityHeaders.render(
      account: entry.snapshot.account, session: entry.snapshot.session, settings: knowledge.identity)
    for field in rendered {
      if let name = HTTPField.Name(field.name) {
        fields.append(HTTPField(name: name, value: String(decoding: field.value, as: UTF8.self)))
      }
    }
    if let cookie = renewedCookie(of: entry, head, bytes) {
      fields.append(HTTPField(name: .setCookie, value: cookie))
    }
    if let assertion = entry.assertion { fields[.identityAssertion] = assertion }
    return status(.ok, fields)
  }

  private func status(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> GateDecision {
    var fields = fields
    fields[.cacheControl] = "no-store"
    return .answer(ControlResponse(status, fields: fields), routeClass: Operations.RouteClass.verify.rawValue)
  }

  /// The route of the path that the other proxy is asked for. A stranger's word for it is not taken: without it the
  /// default holds.
  private func wantedRoute(_ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer) -> RouteDecision {
    guard client.isTrusted,
      let line = head.fields.line(.xOriginalURI) ?? head.fields.line(.xForwardedURI)
    else { return .default }
    // Two of them could be two paths: one for us, one for the application.
    guard !head.fields.isRepeated(line.known), !(head.fields.has(.xOriginalURI) && head.fields.has(.xForwardedURI))
    else {
      return RouteDecision(access: .deny)
    }
    var end = line.value.lowerBound
    while end < line.value.upperBound, bytes.byte(at: end) != 0x3F { end += 1 }
    let path = bytes.extracting(line.value.lowerBound..<end)._unsafeView(as: UInt8.self)
    let judgement = PathJudgement.judge(path)
    if case .refused = judgement { return RouteDecision(access: .deny) }
    return knowledge.routes.match(path, judgement)
  }
}
