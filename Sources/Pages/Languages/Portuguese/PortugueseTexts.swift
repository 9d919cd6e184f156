/// Portuguese as it is written in Brazil.
struct PortugueseTexts: PageTexts {
  let language = "pt-BR"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Entrar em \(application)"
    case .signInExplanation(let application):
      "Você entra em \(application) com sua Conta Apple. Não precisa de uma nova senha e escolhe se compartilha ou "
        + "oculta seu endereço de e-mail."
    case .signOutQuestion(let application): "Sair de \(application)?"
    case .signedInAs: "Você entrou como"
    case .signOutExplanation: "Isso encerra sua sessão neste navegador. Sua Conta Apple não é afetada."
    case .signOutButton: "Sair"
    case .stayButton: "Continuar conectado"
    case .signedOutTitle: "Você saiu"
    case .signedOutExplanation(let application):
      "Sua sessão em \(application) foi encerrada neste navegador. Se você compartilha este dispositivo, saia também "
        + "da sua Conta Apple."
    case .signInAgainButton: "Entrar novamente"
    case .signInButton: "Entrar"
    case .repostTitle: "Um momento…"
    case .repostExplanation: "Estamos concluindo seu login. Se nada acontecer, pressione “Continuar”."
    case .scriptNeeded: "Este login precisa de JavaScript. Permita-o neste site e tente novamente."
    case .continueButton: "Continuar"
    case .tryAgainButton: "Tentar novamente"
    case .startPageButton: "Ir para a página inicial"
    case .otherAccountButton: "Usar outra Conta Apple"
    case .requestIDLabel: "Solicitação"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
