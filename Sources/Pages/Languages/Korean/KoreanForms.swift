extension KoreanTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept: "입력한 내용은 이 페이지에만 남아 있습니다. 새 탭에서 로그인한 다음 여기로 돌아와 전송해 주십시오."
    case .ready: "로그인되었습니다. 이제 양식을 전송할 수 있습니다."
    case .sendButton: "양식 전송"
    case .otherAccount: "다른 계정으로 로그인되어 있습니다. 이 양식은 작성한 계정으로만 전송할 수 있습니다."
    case .keepingNeedsScript: "JavaScript를 사용할 수 없어 이 페이지에 입력한 내용을 보관할 수 없습니다."
    case .notKept: "이 페이지에 입력한 내용을 보관하지 못했습니다. 이전 페이지로 돌아가 내용을 복사한 다음, 로그인하여 양식을 다시 작성해 주십시오."
    case .signedInTitle: "로그인되었습니다"
    case .signedInExplanation: "양식이 있는 탭으로 돌아가 전송해 주십시오. 이 탭은 닫아도 됩니다."
    }
  }
}
