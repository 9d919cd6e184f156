extension KoreanTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "로그인해 주십시오",
        explanation: "이 페이지를 보려면 로그인해야 합니다.")
    case .reauthenticationRequired:
      FailureText(
        heading: "다시 로그인해 주십시오",
        explanation: "\(application)의 이 페이지를 보려면 다시 로그인해야 합니다.",
        advice: "양식을 전송했다면 그 내용은 전달되지 않았습니다. 로그인하기 전에 이전 페이지로 돌아가 입력한 내용을 복사해 주십시오.")
    case .formNotSent:
      FailureText(
        heading: "양식이 전송되지 않았습니다",
        explanation: "현재 \(application)에서 로그아웃된 상태이므로 입력한 내용이 전달되거나 저장되지 않았습니다.",
        advice: "입력한 내용을 보관하려면 이전 페이지로 돌아가 복사해 주십시오. 그런 다음 로그인하여 양식을 다시 작성해 주십시오.")
    case .formIncomplete:
      FailureText(
        heading: "양식이 끝까지 전송되지 않았습니다",
        explanation: "현재 \(application)에서 로그아웃된 상태이므로 양식 전송이 중단되어 입력한 내용이 모두 전달되지는 않았습니다.",
        advice: "입력한 내용을 보관하려면 이전 페이지로 돌아가 복사해 주십시오. 그런 다음 로그인하여 저장된 내용이 있는지 확인하고 양식을 다시 작성해 주십시오.")
    case .formUnanswered:
      FailureText(
        heading: "양식이 처리되었을 수 있습니다",
        explanation: "현재 \(application)에서 로그아웃된 상태입니다. 양식은 이미 전송되었지만 아직 응답을 받지 못했습니다.",
        advice: "다시 전송하기 전에 로그인하여 양식이 처리되었는지 확인해 주십시오.")
    case .cancelled:
      FailureText(
        heading: "로그인이 취소되었습니다",
        explanation: "Apple 화면에서 취소하셨습니다. 공유된 정보는 없으며 로그인되지 않았습니다.")
    case .cancelledAgain:
      FailureText(
        heading: "계속 로그인되어 있습니다",
        explanation: "Apple 화면에서 새 로그인을 취소하셨습니다. 공유된 정보는 없으며 세션은 계속됩니다.")
    case .attemptExpired:
      FailureText(
        heading: "로그인하는 데 시간이 너무 오래 걸렸습니다",
        explanation: "로그인은 10분 안에 완료해야 합니다.",
        advice: "처음부터 다시 시작해 주십시오.")
    case .attemptUnknown:
      FailureText(
        heading: "다른 브라우저에서 시작된 로그인입니다",
        explanation: "Apple의 응답에 해당하는 로그인이 이 브라우저에 없습니다. 다른 브라우저나 개인정보 보호 창에서 시작했거나 쿠키가 차단되었을 수 있습니다.",
        advice: "이 사이트의 쿠키를 허용한 다음 다시 시도해 주십시오.")
    case .attemptUsed:
      FailureText(
        heading: "이미 완료된 로그인입니다",
        explanation: "Apple의 응답은 한 번만 사용할 수 있습니다. 페이지를 새로 고치거나 뒤로 가면 이 화면이 나타날 수 있습니다.")
    case .attemptEnded:
      FailureText(
        heading: "이미 끝난 로그인입니다",
        explanation: "Apple의 응답은 한 번만 사용할 수 있으며 이 응답은 이미 사용되었습니다. 페이지를 새로 고치면 이 화면이 나타날 수 있습니다.",
        advice: "처음부터 다시 시작해 주십시오.")
    case .answerInvalid:
      FailureText(
        heading: "Apple의 응답을 받아들일 수 없습니다",
        explanation: "응답의 일부가 없거나 확인할 수 없어 로그인되지 않았습니다.",
        advice: "다시 시도해 주십시오. 같은 문제가 계속되면 \(application) 관리자에게 문의해 주십시오.")
    case .appleRefused:
      FailureText(
        heading: "현재 로그인할 수 없습니다",
        explanation: "Apple에서 \(application)의 요청을 받아들이지 않았습니다. 사용자의 Apple 계정에는 문제가 없으며 잘못된 조작도 없었습니다.",
        advice: "\(application) 관리자에게 문의해 주십시오.")
    case .appleUnreachable:
      FailureText(
        heading: "Apple이 응답하지 않습니다",
        explanation: "로그인을 완료하기 위해 Apple에 연결하려 했으나 연결되지 않았습니다.",
        advice: "1분 후에 다시 시도해 주십시오.")
    case .storeUnavailable:
      FailureText(
        heading: "일시적으로 로그인할 수 없습니다",
        explanation: "현재 \(application)에서 로그인 정보를 불러오거나 저장할 수 없습니다.",
        advice: "1분 후에 다시 시도해 주십시오.")
    case .forbidden:
      FailureText(
        heading: "이 계정에는 접근 권한이 없습니다",
        explanation: "로그인되어 있지만, 사용 중인 Apple 계정에는 이 페이지를 볼 권한이 없습니다.",
        advice: "접근 권한이 필요하면 \(application) 관리자에게 문의해 주십시오.")
    case .closed:
      FailureText(
        heading: "이 페이지는 사용할 수 없습니다",
        explanation: "로그인 여부와 관계없이 아무도 이 페이지를 열 수 없습니다.")
    case .network:
      FailureText(
        heading: "현재 네트워크에서는 이용할 수 없습니다",
        explanation: "\(application)의 이 페이지는 특정 네트워크에서만 열 수 있습니다.",
        advice: "VPN 등으로 올바른 네트워크에 연결한 뒤 다시 시도해 주십시오.")
    case .banned:
      FailureText(
        heading: "이 계정은 차단되었습니다",
        explanation: "\(application) 관리자가 사용 중인 계정을 차단했습니다.",
        advice: "잘못된 조치라고 생각되면 \(application) 관리자에게 문의해 주십시오.")
    case .accessRequestsFull:
      FailureText(
        heading: "지금은 요청을 더 받을 수 없습니다",
        explanation: "이미 너무 많은 사람이 접근을 요청하여 이번 요청은 저장되지 않았습니다.",
        advice: "\(application) 관리자에게 문의하거나 나중에 다시 시도해 주십시오.")
    case .invitationInvalid:
      FailureText(
        heading: "유효하지 않은 초대입니다",
        explanation: "이미 사용되었거나 기한이 지났거나 취소되었거나, 링크가 완전하지 않습니다.",
        advice: "새 초대를 요청해 주십시오.")
    case .emailHidden:
      FailureText(
        heading: "이메일 주소를 가린 상태로는 접근할 수 없습니다",
        explanation: "접근 권한은 이메일 주소로 결정되는데, \(application)에는 주소가 가려져 있습니다.",
        advice: "주소를 공유하려면 Apple 계정 설정을 열어 ‘Apple로 로그인’에서 \(application) 항목을 제거한 다음 다시 로그인해 주십시오.")
    case .emailMissing:
      FailureText(
        heading: "이메일 주소가 없어 접근할 수 없습니다",
        explanation: "접근 권한은 이메일 주소로 결정되는데, 사용 중인 Apple 계정에서 주소가 제공되지 않았습니다.",
        advice: "\(application) 관리자에게 문의하거나 이메일 주소가 있는 계정을 사용해 주십시오.")
    case .emailNotVerified:
      FailureText(
        heading: "이메일 주소가 확인되지 않았습니다",
        explanation: "접근 권한은 이메일 주소로 결정되는데, Apple에서 아직 주소를 확인하지 않았습니다.",
        advice: "Apple 계정 설정에서 주소를 확인한 다음 다시 로그인해 주십시오.")
    case .crossSite:
      FailureText(
        heading: "이 사이트의 페이지에서 진행해 주십시오",
        explanation: "다른 사이트에서 보낸 요청이므로 아무 작업도 하지 않았습니다.")
    case .badRequest:
      FailureText(
        heading: "올바르지 않은 요청입니다",
        explanation: "주소나 요청에 잘못된 부분이 있습니다.",
        advice: "주소를 확인하거나 시작 페이지로 이동해 주십시오.")
    case .notFound:
      FailureText(
        heading: "페이지를 찾을 수 없습니다",
        explanation: "이 주소에는 페이지가 없습니다.",
        advice: "주소를 확인하거나 시작 페이지로 이동해 주십시오.")
    case .methodNotAllowed:
      FailureText(
        heading: "여기에서는 할 수 없는 작업입니다",
        explanation: "페이지는 있지만 이런 종류의 요청은 받지 않습니다.")
    case .requestTimeout:
      FailureText(
        heading: "요청이 너무 오래 걸렸습니다",
        explanation: "요청 전체가 제시간에 도착하지 않았습니다.",
        advice: "연결 상태를 확인한 다음 다시 시도해 주십시오.")
    case .lengthRequired:
      FailureText(
        heading: "길이 정보가 없습니다",
        explanation: "이 크기의 내용은 길이를 미리 알린 경우에만 받을 수 있어 처리되지 않았습니다.")
    case .contentTooLarge:
      FailureText(
        heading: "크기가 너무 큽니다",
        explanation: "보내신 내용이 허용되는 크기를 넘어 처리되지 않았습니다.")
    case .targetTooLong:
      FailureText(
        heading: "주소가 너무 깁니다",
        explanation: "허용되는 길이를 넘었습니다.")
    case .unsupportedMediaType:
      FailureText(
        heading: "받을 수 없는 데이터 형식입니다",
        explanation: "보내신 내용의 형식은 여기에서 지원되지 않습니다.")
    case .expectationFailed:
      FailureText(
        heading: "지원되지 않는 요청입니다",
        explanation: "여기에서 지원되지 않는 것을 요구하고 있습니다.")
    case .misdirected:
      FailureText(
        heading: "다른 사이트의 주소입니다",
        explanation: "여기에서 제공하지 않는 사이트에 대한 요청입니다.",
        advice: "브라우저의 주소를 확인해 주십시오.")
    case .tooManyRequests:
      FailureText(
        heading: "요청이 너무 많습니다",
        explanation: "짧은 시간에 허용되는 것보다 많은 요청을 보내셨습니다.",
        advice: "30초 정도 기다린 다음 다시 시도해 주십시오.")
    case .headTooLarge:
      FailureText(
        heading: "요청이 너무 큽니다",
        explanation: "쿠키를 포함한 헤더가 허용되는 크기를 넘었습니다.",
        advice: "대개 이 사이트의 쿠키를 삭제하면 해결됩니다.")
    case .internalError:
      FailureText(
        heading: "문제가 발생했습니다",
        explanation: "사용자의 잘못이 아니라 저희 쪽의 오류입니다.",
        advice: "다시 시도해 주십시오. 같은 문제가 계속되면 \(application) 관리자에게 문의해 주십시오.")
    case .notImplemented:
      FailureText(
        heading: "지원되지 않습니다",
        explanation: "여기에서 지원되지 않는 기능을 사용하는 요청입니다.")
    case .badGateway:
      FailureText(
        heading: "\(application)에서 올바른 응답이 없습니다",
        explanation: "애플리케이션이 올바른 응답을 보내지 않았습니다.",
        advice: "잠시 후에 다시 시도해 주십시오.")
    case .unavailable:
      FailureText(
        heading: "지금은 \(application)에 접속할 수 없습니다",
        explanation: "애플리케이션이 시작 또는 종료 중이거나 매우 바쁩니다.",
        advice: "잠시 후에 다시 시도해 주십시오.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application)에서 응답이 없습니다",
        explanation: "애플리케이션이 제시간에 응답하지 않았습니다.",
        advice: "잠시 후에 다시 시도해 주십시오.")
    case .versionNotSupported:
      FailureText(
        heading: "지원되지 않는 HTTP 버전입니다",
        explanation: "여기에서 지원되지 않는 HTTP 버전을 사용하는 요청입니다.")
    }
  }
}
