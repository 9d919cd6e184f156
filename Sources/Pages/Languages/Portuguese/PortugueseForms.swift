extension PortugueseTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "O que você escreveu fica guardado nesta página, e em nenhum outro lugar. Entre em uma nova aba, "
        + "depois volte aqui e envie."
    case .ready: "Você está conectado. Já pode enviar o formulário."
    case .sendButton: "Enviar o formulário"
    case .otherAccount:
      "Você está conectado com outra conta. O formulário só pode ser enviado com a conta que o preencheu."
    case .keepingNeedsScript: "Sem JavaScript, esta página não consegue guardar o que você escreveu."
    case .notKept:
      "Esta página não conseguiu guardar o que você escreveu. Para recuperar o texto, volte e copie-o. "
        + "Depois, entre e preencha o formulário novamente."
    case .signedInTitle: "Você está conectado"
    case .signedInExplanation: "Volte à aba do formulário para enviá-lo. Você pode fechar esta aba."
    }
  }
}
