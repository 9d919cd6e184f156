extension ArabicTexts {
  func text(_ failure: PageFailure, application name: String) -> FailureText {
    let application = isolated(name)
    return switch failure {
    case .signInRequired:
      FailureText(
        heading: "يُرجى تسجيل الدخول",
        explanation: "يجب تسجيل الدخول لرؤية هذه الصفحة.")
    case .reauthenticationRequired:
      FailureText(
        heading: "يُرجى تسجيل الدخول مرة أخرى",
        explanation: "يتطلب هذا الجزء من \(application) تسجيل دخول أحدث.",
        advice: "إذا أرسلت نموذجًا، فلم يُمرَّر محتواه. ارجع وانسخ ما أدخلته قبل أن تسجّل الدخول.")
    case .formNotSent:
      FailureText(
        heading: "لم يتم إرسال النموذج",
        explanation: "أنت غير مسجّل الدخول إلى \(application)، لذلك لم يتم إرسال ما أدخلته ولم يتم حفظه.",
        advice: "للاحتفاظ بما أدخلته، ارجع إلى الصفحة السابقة وانسخه. ثم سجّل الدخول واملأ النموذج مرة أخرى.")
    case .formIncomplete:
      FailureText(
        heading: "لم يتم إرسال النموذج بالكامل",
        explanation: "أنت غير مسجّل الدخول إلى \(application)، لذلك توقّف إرسال النموذج ولم يصل بالكامل.",
        advice: "للاحتفاظ بما أدخلته، ارجع إلى الصفحة السابقة وانسخه. ثم سجّل الدخول وتحقّق مما إذا كان قد تم حفظ شيء، "
          + "واملأ النموذج مرة أخرى.")
    case .formUnanswered:
      FailureText(
        heading: "ربما تمت معالجة النموذج",
        explanation: "أنت غير مسجّل الدخول إلى \(application). تم إرسال النموذج، لكن لم يصل أي رد بعد.",
        advice: "قبل أن ترسل النموذج مرة أخرى، سجّل الدخول وتحقّق مما إذا كانت معالجته قد تمت.")
    case .cancelled:
      FailureText(
        heading: "تم إلغاء تسجيل الدخول",
        explanation: "لقد ألغيت العملية لدى Apple. لم تتم مشاركة أي شيء، ولم يتم تسجيل دخولك.")
    case .cancelledAgain:
      FailureText(
        heading: "ما زلت مسجّل الدخول",
        explanation: "لقد ألغيت تسجيل الدخول الجديد لدى Apple. لم تتم مشاركة أي شيء، وتستمر جلستك.")
    case .attemptExpired:
      FailureText(
        heading: "استغرق تسجيل دخولك وقتًا طويلًا",
        explanation: "يجب إكمال تسجيل الدخول خلال عشر دقائق.",
        advice: "يُرجى البدء من جديد.")
    case .attemptUnknown:
      FailureText(
        heading: "بدأ تسجيل الدخول هذا في متصفح آخر",
        explanation: "لا تخص استجابة Apple أي تسجيل دخول في هذا المتصفح. ربما بدأته في متصفح آخر أو في نافذة خاصة، أو "
          + "ربما تكون ملفات تعريف الارتباط محظورة.",
        advice: "اسمح بملفات تعريف الارتباط لهذا الموقع، ثم أعد المحاولة.")
    case .attemptUsed:
      FailureText(
        heading: "لقد أكملت تسجيل الدخول هذا من قبل",
        explanation: "تصلح كل استجابة من Apple لمرة واحدة فقط. قد تصل إلى هنا عند إعادة تحميل الصفحة أو الرجوع إلى "
          + "الخلف.")
    case .attemptEnded:
      FailureText(
        heading: "انتهى تسجيل الدخول هذا",
        explanation: "تصلح كل استجابة من Apple لمرة واحدة فقط، وقد استُخدمت هذه من قبل. قد تصل إلى هنا عند إعادة تحميل "
          + "الصفحة.",
        advice: "يُرجى البدء من جديد.")
    case .answerInvalid:
      FailureText(
        heading: "لم تُقبل استجابة Apple",
        explanation: "كان جزء منها ناقصًا أو تعذّر التحقق منه، ولذلك لم يتم تسجيل دخولك.",
        advice: "يُرجى إعادة المحاولة. إذا تكرر ذلك، فتواصل مع القائمين على \(application).")
    case .appleRefused:
      FailureText(
        heading: "تسجيل الدخول غير متاح حاليًا",
        explanation: "لم تقبل Apple طلبًا من \(application). حساب Apple الخاص بك سليم، ولم ترتكب أي خطأ.",
        advice: "يُرجى التواصل مع القائمين على \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "لا تستجيب Apple",
        explanation: "لم نتمكن من الوصول إلى Apple لإكمال تسجيل دخولك.",
        advice: "يُرجى إعادة المحاولة بعد دقيقة.")
    case .storeUnavailable:
      FailureText(
        heading: "تسجيل الدخول غير متاح مؤقتًا",
        explanation: "لا يستطيع \(application) تحميل بيانات تسجيل الدخول أو حفظها في الوقت الحالي.",
        advice: "يُرجى إعادة المحاولة بعد دقيقة.")
    case .forbidden:
      FailureText(
        heading: "لا يملك هذا الحساب إذن الدخول",
        explanation: "أنت مسجّل الدخول، لكن حساب Apple الخاص بك غير مسموح له برؤية هذه الصفحة.",
        advice: "إذا كنت تحتاج إلى الدخول، فتواصل مع القائمين على \(application).")
    case .closed:
      FailureText(
        heading: "هذه الصفحة غير متاحة",
        explanation: "لا يمكن لأي شخص فتح هذه الصفحة، سواء سجّل الدخول أم لا.")
    case .network:
      FailureText(
        heading: "غير متاح من شبكتك",
        explanation: "لا يمكن فتح هذه الصفحة من \(application) إلا من شبكات معينة.",
        advice: "اتصل بالشبكة الصحيحة، عبر VPN مثلًا، ثم أعد المحاولة.")
    case .banned:
      FailureText(
        heading: "تم حظر حسابك",
        explanation: "حظر القائمون على \(application) حسابك.",
        advice: "إذا كنت تعتقد أن هذا خطأ، فتواصل مع القائمين على \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "لا يمكن تقديم طلبات الآن",
        explanation: "طلب الدخول عدد كبير جدًا من الأشخاص، لذلك لم يُحفظ طلبك.",
        advice: "تواصل مع القائمين على \(application)، أو حاول لاحقًا.")
    case .invitationInvalid:
      FailureText(
        heading: "هذه الدعوة غير صالحة",
        explanation: "استُخدمت بالكامل أو انتهت مدتها أو سُحبت، أو أن الرابط غير مكتمل.",
        advice: "اطلب دعوة جديدة.")
    case .emailHidden:
      FailureText(
        heading: "لا يمكن الدخول بعنوان بريد إلكتروني مخفي",
        explanation: "يعتمد الدخول على عنوان بريدك الإلكتروني، لكنك أخفيته عن \(application).",
        advice: "لمشاركته، افتح إعدادات حساب Apple، وأزل \(application) من «تسجيل الدخول باستخدام Apple»، ثم سجّل "
          + "الدخول مرة أخرى.")
    case .emailMissing:
      FailureText(
        heading: "لا يمكن الدخول من دون عنوان بريد إلكتروني",
        explanation: "يعتمد الدخول على عنوان بريدك الإلكتروني، لكن حساب Apple الخاص بك لم يقدّم أي عنوان.",
        advice: "تواصل مع القائمين على \(application)، أو استخدم حسابًا له عنوان بريد إلكتروني.")
    case .emailNotVerified:
      FailureText(
        heading: "لم يتم التحقق من عنوان بريدك الإلكتروني",
        explanation: "يعتمد الدخول على عنوان بريدك الإلكتروني، ولم تتحقق Apple منه.",
        advice: "تحقّق منه في إعدادات حساب Apple، ثم سجّل الدخول مرة أخرى.")
    case .crossSite:
      FailureText(
        heading: "يُرجى استخدام صفحتنا لهذا الغرض",
        explanation: "جاء الطلب من موقع آخر، ولذلك لم يتغيّر أي شيء.")
    case .badRequest:
      FailureText(
        heading: "هذا الطلب غير صالح",
        explanation: "في العنوان أو الطلب خطأ ما.",
        advice: "تحقّق من العنوان، أو انتقل إلى صفحة البداية.")
    case .notFound:
      FailureText(
        heading: "الصفحة غير موجودة",
        explanation: "لا توجد صفحة في هذا العنوان.",
        advice: "تحقّق من العنوان، أو انتقل إلى صفحة البداية.")
    case .methodNotAllowed:
      FailureText(
        heading: "هذا غير ممكن هنا",
        explanation: "هذه الصفحة موجودة، لكنها لا تدعم هذا النوع من الطلبات.")
    case .requestTimeout:
      FailureText(
        heading: "استغرق الطلب وقتًا أطول من اللازم",
        explanation: "لم يصل كاملًا في الوقت المحدد.",
        advice: "تحقّق من اتصالك، ثم أعد المحاولة.")
    case .lengthRequired:
      FailureText(
        heading: "الطول غير محدد",
        explanation: "لا يُقبل محتوى بهذا الحجم إلا إذا أُعلن طوله مسبقًا، ولذلك لم تتم معالجته.")
    case .contentTooLarge:
      FailureText(
        heading: "الحجم كبير جدًا",
        explanation: "ما أُرسل أكبر مما يُقبل هنا، ولذلك لم تتم معالجته.")
    case .targetTooLong:
      FailureText(
        heading: "العنوان طويل جدًا",
        explanation: "إنه أطول مما يُقبل هنا.")
    case .unsupportedMediaType:
      FailureText(
        heading: "لا يُقبل هذا النوع من البيانات",
        explanation: "ما أُرسل ليس في صيغة مفهومة هنا.")
    case .expectationFailed:
      FailureText(
        heading: "هذا الطلب غير مدعوم",
        explanation: "إنه يطلب شيئًا غير مدعوم هنا.")
    case .misdirected:
      FailureText(
        heading: "هذا عنوان موقع آخر",
        explanation: "كان الطلب لموقع غير متاح هنا.",
        advice: "تحقّق من العنوان في متصفحك.")
    case .tooManyRequests:
      FailureText(
        heading: "عدد الطلبات كبير جدًا",
        explanation: "أرسلت عددًا كبيرًا جدًا من الطلبات في وقت قصير.",
        advice: "يُرجى الانتظار نصف دقيقة، ثم إعادة المحاولة.")
    case .headTooLarge:
      FailureText(
        heading: "الطلب كبير جدًا",
        explanation: "ترويسات الطلب، بما فيها ملفات تعريف الارتباط، أكبر مما يُسمح به هنا.",
        advice: "يساعد عادةً مسح ملفات تعريف الارتباط لهذا الموقع.")
    case .internalError:
      FailureText(
        heading: "حدث خطأ ما",
        explanation: "هذا خطؤنا نحن، وليس خطأك.",
        advice: "يُرجى إعادة المحاولة. إذا تكرر ذلك، فتواصل مع القائمين على \(application).")
    case .notImplemented:
      FailureText(
        heading: "هذا غير مدعوم",
        explanation: "يستخدم الطلب شيئًا غير مدعوم هنا.")
    case .badGateway:
      FailureText(
        heading: "لا يستجيب \(application) بشكل صحيح",
        explanation: "لم يرسل التطبيق استجابة صالحة.",
        advice: "يُرجى إعادة المحاولة بعد قليل.")
    case .unavailable:
      FailureText(
        heading: "\(application) غير متاح مؤقتًا",
        explanation: "التطبيق قيد بدء التشغيل أو الإيقاف، أو مشغول جدًا.",
        advice: "يُرجى إعادة المحاولة بعد قليل.")
    case .gatewayTimeout:
      FailureText(
        heading: "لا يستجيب \(application)",
        explanation: "لم يستجب التطبيق في الوقت المحدد.",
        advice: "يُرجى إعادة المحاولة بعد قليل.")
    case .versionNotSupported:
      FailureText(
        heading: "إصدار HTTP هذا غير مدعوم",
        explanation: "يستخدم الطلب إصدارًا من HTTP غير مدعوم هنا.")
    }
  }
}
