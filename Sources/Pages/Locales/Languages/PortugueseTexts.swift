/// Portuguese as it is written in Brazil.
struct PortugueseTexts: PageTexts {
  let language = "pt-BR"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Entrar em \(application)"
    case .signInExplanation(let application):
      "\(application) reconhece você pela sua conta Apple. Nenhuma senha nova, e você escolhe se compartilha seu "
        + "endereço de e-mail ou se o oculta."
    case .signOutQuestion(let application): "Sair de \(application)?"
    case .signedInAs: "Você entrou como"
    case .signOutExplanation:
      "Isso encerra sua sessão neste navegador. Sua conta Apple continua como está."
    case .signOutButton: "Sair"
    case .stayButton: "Continuar conectado"
    case .signedOutTitle: "Você saiu"
    case .signedOutExplanation(let application):
      "Sua sessão em \(application) foi encerrada neste navegador. Se você compartilha este dispositivo, saia também "
        + "da "
        + "sua conta Apple."
    case .signInAgainButton: "Entrar novamente"
    case .signInButton: "Entrar"
    case .repostTitle: "Um momento…"
    case .repostExplanation:
      "Estamos concluindo seu login. Se nada acontecer, toque em “Continuar”."
    case .scriptNeeded: "Este início de sessão precisa de JavaScript. Permita-o para este site e tente novamente."
    case .continueButton: "Continuar"
    case .tryAgainButton: "Tentar novamente"
    case .startPageButton: "Ir para a página inicial"
    case .otherAccountButton: "Usar outra conta Apple"
    case .requestIDLabel: "Solicitação"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
