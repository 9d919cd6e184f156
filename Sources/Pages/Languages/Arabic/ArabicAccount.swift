extension ArabicTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "حسابك في \(isolated(application))"
    case .nameLabel: "الاسم"
    case .emailLabel: "البريد الإلكتروني"
    case .notShared: "لم تتم مشاركته"
    case .relayNote(let application):
      "أنشأت Apple هذا العنوان من أجلك. فهو يعيد توجيه الرسائل إليك ويخفي عنوانك الخاص عن \(isolated(application))."
    case .relayOffNote(let application):
      "أنشأت Apple هذا العنوان من أجلك. فهو يخفي عنوانك الخاص عن \(isolated(application))، لكنه لا يعيد توجيه الرسائل "
        + "إليك حاليًا. يمكنك تفعيل إعادة التوجيه من إعدادات حساب Apple."
    case .unverifiedNote: "لم تتحقق Apple من هذا العنوان."
    case .groupsLabel: "المجموعات"
    case .ownSessionsHeading: "الأماكن التي سجّلت الدخول منها"
    case .thisBrowser: "هذا المتصفح"
    case .browser(let name, let device): "\(isolated(name)) على \(isolated(device))"
    case .unknownBrowser: "متصفح غير معروف"
    case .beganLabel: "تسجيل الدخول:"
    case .lastSeenLabel: "آخر استخدام:"
    case .endOthersButton: "تسجيل الخروج من كل الأماكن الأخرى"
    case .moreSessions(let count): "جلسات أخرى غير مدرجة هنا: \(count)"
    case .endedOne: "تم تسجيل الخروج من المتصفح الآخر."
    case .endedOthers: "تم تسجيل خروجك من كل الأماكن الأخرى."
    case .stopQuestion(let application): "هل تريد التوقف عن استخدام \(isolated(application))؟"
    case .stopButton(let application): "التوقف عن استخدام \(isolated(application))"
    case .stopExplanation(let application):
      "سينتهي الارتباط بين \(isolated(application)) وحساب Apple الخاص بك. وسيُحذف اسمك وعنوان بريدك وجلساتك من هنا، "
        + "وسيتم تسجيل خروجك من كل مكان."
    case .stopHereExplanation(let application):
      "سيُحذف اسمك وعنوان بريدك وجلساتك من هنا، وسيتم تسجيل خروجك من كل مكان. "
        + "وتحتفظ Apple بالارتباط بين \(isolated(application)) وحساب Apple الخاص بك إلى أن تزيله من إعدادات حساب Apple."
    case .stopAdvice(let application):
      "لن يُحذف ما حفظته في \(isolated(application)) نفسه. يُرجى التواصل مع القائمين عليه بشأن ذلك."
    case .keepUsingButton: "إلغاء"
    case .farewellTitle(let application): "توقفت عن استخدام \(isolated(application))"
    case .farewellExplanation(let application):
      "لم يعد \(isolated(application)) مرتبطًا بحساب Apple الخاص بك. وقد حُذف اسمك وعنوان بريدك وجلساتك من هنا."
    case .farewellHereExplanation(let application):
      "حُذف اسمك وعنوان بريدك وجلساتك من هنا. لإنهاء الارتباط بحساب Apple الخاص بك أيضًا، افتح إعدادات حساب Apple، "
        + "وأزل \(isolated(application)) من «تسجيل الدخول باستخدام Apple»."
    case .notRevokedTitle: "لم تؤكد Apple ذلك"
    case .notRevokedExplanation(let application):
      "تعذّر إنهاء الارتباط بين \(isolated(application)) وحساب Apple الخاص بك لدى Apple. لم يُحذف شيء، وما زلت مسجّل "
        + "الدخول."
    case .notRevokedAdvice(let application):
      "يُرجى إعادة المحاولة بعد بضع دقائق. إذا تكرر ذلك، فتواصل مع القائمين على \(isolated(application))."
    }
  }
}
