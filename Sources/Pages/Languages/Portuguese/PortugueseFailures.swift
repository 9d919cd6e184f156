extension PortugueseTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Entre para continuar",
        explanation: "Você precisa entrar para ver isto.")
    case .reauthenticationRequired:
      FailureText(
        heading: "Entre novamente",
        explanation: "Esta parte de \(application) exige um login mais recente.",
        advice: "Se você enviou um formulário, ele não foi encaminhado. Volte e copie o que escreveu antes de entrar.")
    case .formNotSent:
      FailureText(
        heading: "Seu formulário não foi enviado",
        explanation: "Você não está conectado a \(application). Por isso, o que você escreveu não foi enviado nem "
          + "salvo.",
        advice: "Para não perder o que escreveu, volte e copie o texto. Depois, entre e preencha o formulário "
          + "novamente.")
    case .formIncomplete:
      FailureText(
        heading: "Seu formulário não foi enviado por completo",
        explanation: "Você não está conectado a \(application). Por isso, o envio do formulário foi interrompido, e "
          + "ele não chegou por completo.",
        advice: "Para não perder o que escreveu, volte e copie o texto. Depois, entre, verifique se algo foi salvo e "
          + "preencha o formulário novamente.")
    case .formUnanswered:
      FailureText(
        heading: "Seu formulário pode ter sido processado",
        explanation: "Você não está conectado a \(application). O formulário já tinha sido enviado, mas ainda não "
          + "havia resposta.",
        advice: "Entre e verifique se o formulário foi processado antes de enviá-lo novamente.")
    case .cancelled:
      FailureText(
        heading: "Login cancelado",
        explanation: "Você cancelou na página da Apple. Nada foi compartilhado, e você não entrou.")
    case .cancelledAgain:
      FailureText(
        heading: "Você continua conectado",
        explanation: "Você cancelou o novo login na página da Apple. Nada foi compartilhado, e sua sessão continua.")
    case .attemptExpired:
      FailureText(
        heading: "Seu login demorou demais",
        explanation: "O login precisa ser concluído em até dez minutos.",
        advice: "Comece novamente, por favor.")
    case .attemptUnknown:
      FailureText(
        heading: "Este login começou em outro navegador",
        explanation: "A resposta da Apple não corresponde a nenhum login neste navegador. Talvez você o tenha começado "
          + "em outro navegador ou em uma janela privada, ou os cookies estejam bloqueados.",
        advice: "Permita os cookies deste site e tente novamente.")
    case .attemptUsed:
      FailureText(
        heading: "Você já concluiu este login",
        explanation: "Cada resposta da Apple vale uma única vez. Recarregar a página ou voltar pode levar até aqui.")
    case .attemptEnded:
      FailureText(
        heading: "Este login terminou",
        explanation: "Cada resposta da Apple vale uma única vez, e esta já foi usada. Recarregar a página pode levar "
          + "até aqui.",
        advice: "Comece novamente, por favor.")
    case .answerInvalid:
      FailureText(
        heading: "A resposta da Apple não foi aceita",
        explanation: "Faltava uma parte dela ou não foi possível verificá-la; por isso, você não entrou.",
        advice: "Tente novamente. Se acontecer de novo, fale com quem administra \(application).")
    case .appleRefused:
      FailureText(
        heading: "O login está indisponível no momento",
        explanation: "A Apple não aceitou uma solicitação de \(application). Sua Conta Apple está em ordem, e você não "
          + "fez nada de errado.",
        advice: "Fale com quem administra \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "A Apple não está respondendo",
        explanation: "Não conseguimos falar com a Apple para concluir seu login.",
        advice: "Tente novamente em um minuto.")
    case .storeUnavailable:
      FailureText(
        heading: "O login está temporariamente indisponível",
        explanation: "\(application) não consegue carregar nem salvar logins agora.",
        advice: "Tente novamente em um minuto.")
    case .forbidden:
      FailureText(
        heading: "Esta conta não tem acesso",
        explanation: "Você entrou, mas sua Conta Apple não tem permissão para ver esta página.",
        advice: "Se você precisa de acesso, fale com quem administra \(application).")
    case .closed:
      FailureText(
        heading: "Esta página não está disponível",
        explanation: "Ninguém pode abrir esta página, com ou sem login.")
    case .network:
      FailureText(
        heading: "Indisponível na sua rede",
        explanation: "Esta página de \(application) só pode ser aberta a partir de determinadas redes.",
        advice: "Conecte-se à rede certa, por exemplo por VPN, e tente novamente.")
    case .banned:
      FailureText(
        heading: "Sua conta está bloqueada",
        explanation: "Quem administra \(application) bloqueou sua conta.",
        advice: "Se você acha que é um engano, fale com quem administra \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "Não é possível pedir acesso agora",
        explanation: "Muitas pessoas já pediram acesso, por isso seu pedido não foi salvo.",
        advice: "Fale com quem administra \(application) ou tente novamente mais tarde.")
    case .invitationInvalid:
      FailureText(
        heading: "Este convite não é válido",
        explanation: "Ele já foi usado, expirou ou foi cancelado, ou o link está incompleto.",
        advice: "Peça um novo convite.")
    case .emailHidden:
      FailureText(
        heading: "Sem acesso com um endereço de e-mail oculto",
        explanation: "O acesso depende do seu endereço de e-mail, mas você o ocultou de \(application).",
        advice: "Para compartilhá-lo, abra os ajustes da sua Conta Apple, remova \(application) em “Iniciar sessão com "
          + "a Apple” e entre novamente.")
    case .emailMissing:
      FailureText(
        heading: "Sem acesso sem um endereço de e-mail",
        explanation: "O acesso depende do seu endereço de e-mail, mas sua Conta Apple não forneceu nenhum.",
        advice: "Fale com quem administra \(application) ou use uma conta que tenha um endereço de e-mail.")
    case .emailNotVerified:
      FailureText(
        heading: "Seu endereço de e-mail não foi verificado",
        explanation: "O acesso depende do seu endereço de e-mail, e a Apple não o verificou.",
        advice: "Verifique-o nos ajustes da sua Conta Apple e entre novamente.")
    case .crossSite:
      FailureText(
        heading: "Use a nossa própria página para isso",
        explanation: "A solicitação veio de outro site; por isso, nada foi alterado.")
    case .badRequest:
      FailureText(
        heading: "Esta solicitação não é válida",
        explanation: "Há um erro no endereço ou na solicitação.",
        advice: "Verifique o endereço ou vá para a página inicial.")
    case .notFound:
      FailureText(
        heading: "Página não encontrada",
        explanation: "Não há nenhuma página neste endereço.",
        advice: "Verifique o endereço ou vá para a página inicial.")
    case .methodNotAllowed:
      FailureText(
        heading: "Isso não é possível aqui",
        explanation: "A página existe, mas não aceita este tipo de solicitação.")
    case .requestTimeout:
      FailureText(
        heading: "A solicitação demorou demais",
        explanation: "Ela não chegou completa a tempo.",
        advice: "Verifique sua conexão e tente novamente.")
    case .lengthRequired:
      FailureText(
        heading: "Falta o tamanho",
        explanation:
          "O aplicativo só aceita um envio deste tamanho se ele for informado antes, e os "
          + "dados não foram processados.")
    case .contentTooLarge:
      FailureText(
        heading: "Isso é grande demais",
        explanation: "Você enviou mais dados do que é permitido aqui, e eles não foram processados.")
    case .targetTooLong:
      FailureText(
        heading: "O endereço é longo demais",
        explanation: "Ele é mais longo do que é permitido aqui.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Este tipo de dados não é aceito",
        explanation: "Os dados enviados têm um formato que não é aceito aqui.")
    case .expectationFailed:
      FailureText(
        heading: "Esta solicitação não é aceita",
        explanation: "Ela exige algo que não é oferecido aqui.")
    case .misdirected:
      FailureText(
        heading: "Este endereço é de outro site",
        explanation: "A solicitação era para um site que não está disponível aqui.",
        advice: "Verifique o endereço no navegador.")
    case .tooManyRequests:
      FailureText(
        heading: "Solicitações demais",
        explanation: "Você enviou solicitações demais em pouco tempo.",
        advice: "Espere meio minuto e tente novamente.")
    case .headTooLarge:
      FailureText(
        heading: "A solicitação é grande demais",
        explanation: "Os cabeçalhos, com os cookies, são maiores do que é permitido aqui.",
        advice: "Apagar os cookies deste site costuma resolver.")
    case .internalError:
      FailureText(
        heading: "Algo deu errado",
        explanation: "O erro é nosso, não seu.",
        advice: "Tente novamente. Se acontecer de novo, fale com quem administra \(application).")
    case .notImplemented:
      FailureText(
        heading: "Isso não é oferecido",
        explanation: "A solicitação usa algo que não é oferecido aqui.")
    case .badGateway:
      FailureText(
        heading: "\(application) não está respondendo corretamente",
        explanation: "O aplicativo não enviou uma resposta válida.",
        advice: "Tente novamente em instantes.")
    case .unavailable:
      FailureText(
        heading: "\(application) está temporariamente indisponível",
        explanation: "O aplicativo está iniciando, parando ou muito ocupado.",
        advice: "Tente novamente em instantes.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) não está respondendo",
        explanation: "O aplicativo não respondeu a tempo.",
        advice: "Tente novamente em instantes.")
    case .versionNotSupported:
      FailureText(
        heading: "Esta versão do HTTP não é aceita",
        explanation: "A solicitação usa uma versão do HTTP que não é aceita aqui.")
    }
  }
}
