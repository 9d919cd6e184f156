extension PortugueseTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Sua conta em \(application)"
    case .nameLabel: "Nome"
    case .emailLabel: "Endereço de e-mail"
    case .notShared: "Não compartilhado"
    case .relayNote(let application):
      "A Apple criou este endereço para você. Ele encaminha seus e-mails e oculta de \(application) o seu endereço."
    case .relayOffNote(let application):
      "A Apple criou este endereço para você. Ele oculta de \(application) o seu endereço, mas no momento não "
        + "encaminha e-mails para você. Você pode ativar o encaminhamento nos ajustes da sua Conta Apple."
    case .unverifiedNote: "A Apple não verificou este endereço."
    case .groupsLabel: "Grupos"
    case .ownSessionsHeading: "Onde você está conectado"
    case .thisBrowser: "Este navegador"
    case .browser(let name, let device): "\(name) em \(device)"
    case .unknownBrowser: "Navegador desconhecido"
    case .beganLabel: "Entrou em:"
    case .lastSeenLabel: "Último uso:"
    case .endOthersButton: "Sair de todas as outras sessões"
    case .moreSessions(let count): "Outras sessões que não aparecem aqui: \(count)"
    case .endedOne: "A sessão no outro navegador foi encerrada."
    case .endedOthers: "Todas as outras sessões foram encerradas."
    case .stopQuestion(let application): "Deixar de usar \(application)?"
    case .stopButton(let application): "Deixar de usar \(application)"
    case .stopExplanation(let application):
      "Isso encerra a conexão entre \(application) e sua Conta Apple. Seu nome, seu endereço de e-mail e suas sessões "
        + "são apagados aqui, e você sai de todos os lugares."
    case .stopHereExplanation(let application):
      "Seu nome, seu endereço de e-mail e suas sessões são apagados aqui, e você sai de todos os lugares. A Apple "
        + "mantém a conexão entre \(application) e sua Conta Apple até que você a remova nos ajustes da sua Conta "
        + "Apple."
    case .stopAdvice(let application):
      "O que você salvou em \(application) não é apagado. Fale sobre isso com quem administra \(application)."
    case .keepUsingButton: "Cancelar"
    case .farewellTitle(let application): "Você deixou de usar \(application)"
    case .farewellExplanation(let application):
      "\(application) não está mais conectado à sua Conta Apple. Seu nome, seu endereço de e-mail e suas sessões foram "
        + "apagados aqui."
    case .farewellHereExplanation(let application):
      "Seu nome, seu endereço de e-mail e suas sessões foram apagados aqui. Para encerrar também a conexão com sua "
        + "Conta Apple, abra os ajustes da sua Conta Apple e remova \(application) em “Iniciar sessão com a Apple”."
    case .notRevokedTitle: "A Apple não confirmou"
    case .notRevokedExplanation(let application):
      "Não foi possível encerrar na Apple a conexão entre \(application) e sua Conta Apple. Nada foi apagado, e você "
        + "continua conectado."
    case .notRevokedAdvice(let application):
      "Tente novamente em alguns minutos. Se acontecer de novo, fale com quem administra \(application)."
    }
  }
}
