/// Korean. After the application's name stand no particles that depend on its last sound.
struct KoreanTexts: PageTexts {
  let language = "ko"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "\(application)에 로그인"
    case .signInExplanation(let application):
      "Apple 계정으로 \(application)에 로그인합니다. 새 암호가 필요 없으며, 이메일 주소를 공유할지 가릴지는 직접 선택할 수 있습니다."
    case .signOutQuestion(let application): "\(application)에서 로그아웃하시겠습니까?"
    case .signedInAs: "현재 로그인한 사용자"
    case .signOutExplanation: "이 브라우저의 세션이 종료됩니다. Apple 계정은 그대로 유지됩니다."
    case .signOutButton: "로그아웃"
    case .stayButton: "로그인 유지"
    case .signedOutTitle: "로그아웃되었습니다"
    case .signedOutExplanation(let application):
      "이 브라우저에서 \(application) 세션이 종료되었습니다. 다른 사람과 함께 쓰는 기기라면 Apple 계정에서도 로그아웃해 주십시오."
    case .signInAgainButton: "다시 로그인"
    case .signInButton: "로그인"
    case .repostTitle: "잠시만 기다려 주십시오…"
    case .repostExplanation: "로그인을 완료하고 있습니다. 아무 변화가 없으면 ‘계속’을 눌러 주십시오."
    case .scriptNeeded: "이 로그인에는 JavaScript가 필요합니다. 이 사이트에서 허용한 다음 다시 시도해 주십시오."
    case .continueButton: "계속"
    case .tryAgainButton: "다시 시도"
    case .startPageButton: "시작 페이지로 이동"
    case .otherAccountButton: "다른 Apple 계정 사용"
    case .requestIDLabel: "요청"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
