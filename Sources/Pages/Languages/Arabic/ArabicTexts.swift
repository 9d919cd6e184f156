/// Arabic, in Modern Standard Arabic, written from right to left. The application's name is isolated, so that a Latin
/// name does not turn the sentence around it.
struct ArabicTexts: PageTexts {
  let language = "ar"
  let direction = TextDirection.rightToLeft

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "تسجيل الدخول إلى \(isolated(application))"
    case .signInExplanation(let application):
      "تسجّل الدخول إلى \(isolated(application)) بحساب Apple الخاص بك. لا تحتاج إلى كلمة سر جديدة، ولك أن تختار مشاركة "
        + "عنوان بريدك الإلكتروني أو إخفاءه."
    case .signOutQuestion(let application): "هل تريد تسجيل الخروج من \(isolated(application))؟"
    case .signedInAs: "أنت مسجّل الدخول باسم"
    case .signOutExplanation: "سيؤدي ذلك إلى إنهاء جلستك في هذا المتصفح. ولن يتأثر حساب Apple الخاص بك."
    case .signOutButton: "تسجيل الخروج"
    case .stayButton: "البقاء مسجّل الدخول"
    case .signedOutTitle: "تم تسجيل خروجك"
    case .signedOutExplanation(let application):
      "انتهت جلستك في \(isolated(application)) في هذا المتصفح. إذا كان غيرك يستخدم هذا الجهاز، فسجّل الخروج من حساب "
        + "Apple أيضًا."
    case .signInAgainButton: "تسجيل الدخول مرة أخرى"
    case .signInButton: "تسجيل الدخول"
    case .repostTitle: "لحظة من فضلك…"
    case .repostExplanation: "نعمل على إكمال تسجيل دخولك. إذا لم يحدث شيء، فاضغط على «متابعة»."
    case .scriptNeeded: "يتطلب تسجيل الدخول هذا JavaScript. يُرجى السماح به لهذا الموقع والمحاولة مرة أخرى."
    case .continueButton: "متابعة"
    case .tryAgainButton: "إعادة المحاولة"
    case .startPageButton: "الانتقال إلى صفحة البداية"
    case .otherAccountButton: "استخدام حساب Apple آخر"
    case .requestIDLabel: "الطلب"
    case .failureTitle(let heading, let application): "\(heading) – \(isolated(application))"
    }
  }

  /// Between FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE (UAX #9).
  func isolated(_ name: String) -> String { "\u{2068}\(name)\u{2069}" }
}
