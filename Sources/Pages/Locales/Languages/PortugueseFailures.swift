extension PortugueseTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Faça login, por favor",
        explanation: "Você precisa fazer login para ver isto.")
    case .formNotSent:
      FailureText(
        heading: "Seu formulário não foi enviado",
        explanation: "Você não está conectado a \(application). Por isso, o que você escreveu não foi enviado nem "
          + "salvo.",
        advice: "Para não perder o que escreveu, volte e copie o texto. Depois, entre e preencha o formulário "
          + "novamente.")
    case .cancelled:
      FailureText(
        heading: "Login cancelado",
        explanation: "Você cancelou na página da Apple. Nada foi compartilhado, e você não entrou.")
    case .attemptExpired:
      FailureText(
        heading: "Demorou um pouco demais",
        explanation: "O login precisa ser concluído em dez minutos, e este começou antes disso.",
        advice: "Comece novamente, por favor.")
    case .attemptUnknown:
      FailureText(
        heading: "Este login não começou aqui",
        explanation: "A resposta da Apple não corresponde a nenhum login deste navegador. Talvez ele tenha começado "
          + "em outro navegador ou em uma janela privada, ou os cookies estejam bloqueados.",
        advice: "Permita os cookies deste site e tente novamente.")
    case .attemptUsed:
      FailureText(
        heading: "Este login já foi concluído",
        explanation: "Cada resposta da Apple vale uma única vez, e esta já foi usada. Recarregar a página ou voltar "
          + "pode "
          + "levar até aqui.")
    case .answerInvalid:
      FailureText(
        heading: "A resposta da Apple não foi aceita",
        explanation: "Faltava uma parte dela ou não foi possível verificá-la; por isso, você não entrou.",
        advice: "Tente novamente. Se acontecer de novo, avise quem administra \(application).")
    case .appleRefused:
      FailureText(
        heading: "O login está com problemas",
        explanation: "A Apple recusou uma solicitação de \(application). Sua conta Apple está em ordem, e você não fez "
          + "nada de errado.",
        advice: "Quem administra \(application) pode resolver isso.")
    case .appleUnreachable:
      FailureText(
        heading: "Não foi possível falar com a Apple",
        explanation: "Não conseguimos falar com a Apple para concluir seu login.",
        advice: "Tente novamente em um minuto.")
    case .storeUnavailable:
      FailureText(
        heading: "Login indisponível no momento",
        explanation: "\(application) não consegue consultar nem salvar sessões agora.",
        advice: "Tente novamente em um minuto.")
    case .forbidden:
      FailureText(
        heading: "Sem acesso com esta conta",
        explanation: "Você entrou, mas sua conta Apple não tem permissão para ver isto.",
        advice: "Se deveria ter, fale com quem administra \(application).")
    case .closed:
      FailureText(
        heading: "Este acesso está fechado",
        explanation: "Ninguém pode abrir este endereço, com ou sem sessão iniciada.")
    case .emailHidden:
      FailureText(
        heading: "Sem acesso com um endereço oculto",
        explanation: "O acesso depende do seu endereço de e-mail, e você o ocultou de \(application).",
        advice: "Para compartilhá-lo, abra os ajustes da sua conta Apple, remova \(application) em “Iniciar sessão "
          + "com a "
          + "Apple” e entre novamente.")
    case .emailMissing:
      FailureText(
        heading: "Sem acesso sem um endereço",
        explanation: "O acesso depende do seu endereço de e-mail, e sua conta Apple não forneceu nenhum.",
        advice: "Fale com quem administra \(application) ou use uma conta que tenha um endereço.")
    case .emailNotVerified:
      FailureText(
        heading: "Seu endereço não foi verificado",
        explanation: "O acesso depende do seu endereço de e-mail, e a Apple não o verificou.",
        advice: "Verifique-o nos ajustes da sua conta Apple e entre novamente.")
    case .crossSite:
      FailureText(
        heading: "Faça isso na nossa própria página, por favor",
        explanation: "A solicitação veio de outro site; por isso, nada foi feito.")
    case .badRequest:
      FailureText(
        heading: "Não foi possível entender a solicitação",
        explanation: "Algo no endereço ou na solicitação não é válido; por isso, ela não foi adiante.",
        advice: "Verifique o endereço ou comece pela página inicial.")
    case .notFound:
      FailureText(
        heading: "Não há nada aqui",
        explanation: "A página deste endereço não existe.",
        advice: "Verifique o endereço ou comece pela página inicial.")
    case .methodNotAllowed:
      FailureText(
        heading: "Isso não pode ser feito aqui",
        explanation: "Esta página existe, mas não para este tipo de solicitação.")
    case .requestTimeout:
      FailureText(
        heading: "A solicitação demorou demais",
        explanation: "Ela não chegou por inteiro a tempo.",
        advice: "Verifique sua conexão e tente novamente.")
    case .contentTooLarge:
      FailureText(
        heading: "Isso é grande demais",
        explanation: "O que foi enviado é maior do que se aceita aqui e não foi processado.")
    case .targetTooLong:
      FailureText(
        heading: "O endereço é longo demais",
        explanation: "Ele é mais longo do que se aceita aqui.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Este tipo de dados não é aceito",
        explanation: "O que foi enviado não está em uma forma que se entenda aqui.")
    case .expectationFailed:
      FailureText(
        heading: "A solicitação espera demais",
        explanation: "Ela pede algo que não é oferecido aqui.")
    case .misdirected:
      FailureText(
        heading: "Este é o endereço de outro site",
        explanation: "A solicitação pedia um site que não é servido aqui.",
        advice: "Verifique o endereço no seu navegador.")
    case .tooManyRequests:
      FailureText(
        heading: "Solicitações demais",
        explanation: "Você enviou mais solicitações do que se aceita em tão pouco tempo.",
        advice: "Espere meio minuto e tente novamente.")
    case .headTooLarge:
      FailureText(
        heading: "A solicitação traz coisas demais",
        explanation: "O cabeçalho dela, com os cookies, é maior do que se aceita aqui.",
        advice: "Apagar os cookies deste site costuma resolver.")
    case .internalError:
      FailureText(
        heading: "Algo deu errado aqui",
        explanation: "O erro é nosso, não seu.",
        advice: "Tente novamente. Se acontecer de novo, avise quem administra \(application).")
    case .notImplemented:
      FailureText(
        heading: "Isso não é oferecido",
        explanation: "A solicitação usa algo que não é oferecido aqui.")
    case .badGateway:
      FailureText(
        heading: "\(application) não respondeu como deveria",
        explanation: "Você chegou até a porta, mas o aplicativo atrás dela não deu uma resposta aproveitável.",
        advice: "Tente novamente em instantes.")
    case .unavailable:
      FailureText(
        heading: "\(application) está indisponível no momento",
        explanation: "O aplicativo está iniciando, parando ou muito ocupado.",
        advice: "Tente novamente em instantes.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) demorou demais para responder",
        explanation: "Você chegou até a porta, mas o aplicativo atrás dela não respondeu a tempo.",
        advice: "Tente novamente em instantes.")
    case .versionNotSupported:
      FailureText(
        heading: "Essa versão do HTTP não é aceita",
        explanation: "A solicitação usa uma versão do HTTP que não se fala aqui.")
    }
  }
}
