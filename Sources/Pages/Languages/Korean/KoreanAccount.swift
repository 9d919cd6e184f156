extension KoreanTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "\(application) 계정"
    case .nameLabel: "이름"
    case .emailLabel: "이메일 주소"
    case .notShared: "공유하지 않음"
    case .relayNote(let application): "Apple에서 만든 전달용 주소입니다. 메일은 사용자에게 전달되고 실제 주소는 \(application)에 공개되지 않습니다."
    case .relayOffNote(let application):
      "Apple에서 만든 전달용 주소입니다. 실제 주소는 \(application)에 공개되지 않지만 현재 메일이 사용자에게 전달되지 않습니다. "
        + "Apple 계정 설정에서 전달을 켤 수 있습니다."
    case .unverifiedNote: "Apple에서 확인하지 않은 주소입니다."
    case .groupsLabel: "그룹"
    case .ownSessionsHeading: "로그인한 브라우저"
    case .thisBrowser: "이 브라우저"
    case .browser(let name, let device): "\(device)의 \(name)"
    case .unknownBrowser: "알 수 없는 브라우저"
    case .beganLabel: "로그인:"
    case .lastSeenLabel: "마지막 사용:"
    case .endOthersButton: "다른 모든 곳에서 로그아웃"
    case .moreSessions(let count): "여기에 표시되지 않은 세션: \(count)"
    case .endedOne: "해당 브라우저에서 로그아웃되었습니다."
    case .endedOthers: "다른 모든 곳에서 로그아웃되었습니다."
    case .stopQuestion(let application): "\(application) 사용을 중단하시겠습니까?"
    case .stopButton(let application): "\(application) 사용 중단"
    case .stopExplanation(let application):
      "Apple 계정과 \(application)의 연결이 종료됩니다. 이름, 이메일 주소, 세션이 여기에서 삭제되고 모든 곳에서 로그아웃됩니다."
    case .stopHereExplanation(let application):
      "이름, 이메일 주소, 세션이 여기에서 삭제되고 모든 곳에서 로그아웃됩니다. "
        + "Apple 계정 설정에서 제거할 때까지 Apple 계정과 \(application)의 연결은 Apple에 남아 있습니다."
    case .stopAdvice(let application): "\(application)에 직접 저장한 내용은 삭제되지 않습니다. 이에 대해서는 관리자에게 문의해 주십시오."
    case .keepUsingButton: "취소"
    case .farewellTitle(let application): "\(application) 사용을 중단했습니다"
    case .farewellExplanation(let application): "Apple 계정과 \(application)의 연결이 종료되었습니다. 이름, 이메일 주소, 세션이 여기에서 삭제되었습니다."
    case .farewellHereExplanation(let application):
      "이름, 이메일 주소, 세션이 여기에서 삭제되었습니다. "
        + "Apple 계정과의 연결도 종료하려면 Apple 계정 설정을 열어 ‘Apple로 로그인’에서 \(application) 항목을 제거해 주십시오."
    case .notRevokedTitle: "Apple에서 확인하지 않았습니다"
    case .notRevokedExplanation(let application):
      "Apple 계정과 \(application)의 연결을 Apple에서 종료하지 못했습니다. 아무것도 삭제되지 않았고 로그인 상태가 유지됩니다."
    case .notRevokedAdvice(let application): "몇 분 후에 다시 시도해 주십시오. 같은 문제가 계속되면 \(application) 관리자에게 문의해 주십시오."
    }
  }
}
