extension ArabicTexts {
  func text(_ failure: PageFailure, application name: String) -> FailureText {
    let application = isolated(name)
    return switch failure {
    case .signInRequired:
      FailureText(
        heading: "يُرجى تسجيل الدخول",
        explanation: "يجب تسجيل الدخول لرؤية هذه الصفحة.")
    case .formNotSent:
      FailureText(
        heading: "لم يتم إرسال النموذج",
        explanation: "أنت غير مسجّل الدخول إلى \(isolated(application))، لذلك لم يتم إرسال ما أدخلته ولم يتم حفظه.",
        advice: "للاحتفاظ بما أدخلته، ارجع إلى الصفحة السابقة وانسخه. ثم سجّل الدخول واملأ النموذج مرة أخرى.")
    case .cancelled:
      FailureText(
        heading: "تم إلغاء تسجيل الدخول",
        explanation: "لقد ألغيت العملية لدى Apple. لم تتم مشاركة أي شيء، ولم يتم تسجيل دخولك.")
    case .attemptExpired:
      FailureText(
        heading: "استغرق ذلك وقتًا أطول من اللازم",
        explanation: "يجب إكمال تسجيل الدخول خلال عشر دقائق، وقد بدأ هذا قبل ذلك.",
        advice: "يُرجى البدء من جديد.")
    case .attemptUnknown:
      FailureText(
        heading: "لم يبدأ تسجيل الدخول هذا من هنا",
        explanation: "لا تخص استجابة Apple أي تسجيل دخول في هذا المتصفح. ربما بدأ في متصفح آخر أو في نافذة خاصة، أو "
          + "ربما تكون "
          + "ملفات تعريف الارتباط محظورة.",
        advice: "اسمح بملفات تعريف الارتباط لهذا الموقع، ثم أعد المحاولة.")
    case .attemptUsed:
      FailureText(
        heading: "اكتمل تسجيل الدخول هذا من قبل",
        explanation: "تصلح كل استجابة من Apple لمرة واحدة، وقد استُخدمت هذه من قبل. قد تصل إلى هنا عند إعادة تحميل "
          + "الصفحة أو "
          + "الرجوع إلى الخلف.")
    case .answerInvalid:
      FailureText(
        heading: "لم تُقبل استجابة Apple",
        explanation: "كان جزء منها ناقصًا أو تعذّر التحقق منه، ولذلك لم يتم تسجيل دخولك.",
        advice: "يُرجى إعادة المحاولة. إذا تكرر ذلك، فأبلغ القائمين على \(application).")
    case .appleRefused:
      FailureText(
        heading: "تسجيل الدخول معطّل",
        explanation: "رفضت Apple طلبًا من \(application). حساب Apple الخاص بك سليم، ولم ترتكب أي خطأ.",
        advice: "يمكن للقائمين على \(application) إصلاح ذلك.")
    case .appleUnreachable:
      FailureText(
        heading: "يتعذّر الوصول إلى Apple",
        explanation: "لم نتمكن من الوصول إلى Apple لإكمال تسجيل دخولك.",
        advice: "يُرجى إعادة المحاولة بعد دقيقة.")
    case .storeUnavailable:
      FailureText(
        heading: "تسجيل الدخول غير متاح مؤقتًا",
        explanation: "لا يستطيع \(application) البحث عن الجلسات أو حفظها في الوقت الحالي.",
        advice: "يُرجى إعادة المحاولة بعد دقيقة.")
    case .forbidden:
      FailureText(
        heading: "لا يمكن الدخول بهذا الحساب",
        explanation: "أنت مسجّل الدخول، لكن حساب Apple الخاص بك غير مسموح له برؤية هذه الصفحة.",
        advice: "إذا كان ينبغي السماح له، فتواصل مع القائمين على \(application).")
    case .closed:
      FailureText(
        heading: "هذا العنوان مغلق",
        explanation: "لا يمكن لأي شخص فتح هذا العنوان، سواء سجّل الدخول أم لا.")
    case .emailHidden:
      FailureText(
        heading: "لا يمكن الدخول بعنوان مخفي",
        explanation: "يعتمد الدخول على عنوان بريدك الإلكتروني، وقد أخفيته عن \(application).",
        advice: "لمشاركته، افتح إعدادات حساب Apple، وأزل \(application) من «تسجيل الدخول باستخدام Apple»، ثم سجّل "
          + "الدخول مرة "
          + "أخرى.")
    case .emailMissing:
      FailureText(
        heading: "لا يمكن الدخول من دون عنوان",
        explanation: "يعتمد الدخول على عنوان بريدك الإلكتروني، ولم يقدّم حساب Apple الخاص بك أي عنوان.",
        advice: "تواصل مع القائمين على \(application)، أو استخدم حسابًا له عنوان.")
    case .emailNotVerified:
      FailureText(
        heading: "لم يتم التحقق من عنوانك",
        explanation: "يعتمد الدخول على عنوان بريدك الإلكتروني، ولم تتحقق Apple منه.",
        advice: "تحقّق منه في إعدادات حساب Apple، ثم سجّل الدخول مرة أخرى.")
    case .crossSite:
      FailureText(
        heading: "يُرجى فعل ذلك من صفحتنا نحن",
        explanation: "جاء الطلب من موقع آخر، ولذلك لم يُنفَّذ أي شيء.")
    case .badRequest:
      FailureText(
        heading: "لا يمكن فهم هذا الطلب",
        explanation: "في العنوان أو الطلب شيء غير صالح، ولذلك لم يُمرَّر.",
        advice: "تحقّق من العنوان، أو ابدأ من صفحة البداية.")
    case .notFound:
      FailureText(
        heading: "لا يوجد شيء هنا",
        explanation: "لا توجد صفحة في هذا العنوان.",
        advice: "تحقّق من العنوان، أو ابدأ من صفحة البداية.")
    case .methodNotAllowed:
      FailureText(
        heading: "لا يمكن فعل ذلك هنا",
        explanation: "هذه الصفحة موجودة، ولكن ليس لهذا النوع من الطلبات.")
    case .requestTimeout:
      FailureText(
        heading: "استغرق الطلب وقتًا أطول من اللازم",
        explanation: "لم يصل كاملًا في الوقت المحدد.",
        advice: "تحقّق من اتصالك، ثم أعد المحاولة.")
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
        heading: "يتوقع الطلب أكثر من اللازم",
        explanation: "إنه يطلب شيئًا غير مدعوم هنا.")
    case .misdirected:
      FailureText(
        heading: "هذا عنوان موقع آخر",
        explanation: "كان الطلب لموقع لا يُقدَّم من هنا.",
        advice: "تحقّق من العنوان في متصفحك.")
    case .tooManyRequests:
      FailureText(
        heading: "عدد الطلبات كبير جدًا",
        explanation: "أرسلت طلبات أكثر مما يُقبل في هذا الوقت القصير.",
        advice: "يُرجى الانتظار نصف دقيقة، ثم إعادة المحاولة.")
    case .headTooLarge:
      FailureText(
        heading: "يحمل الطلب أكثر من اللازم",
        explanation: "ترويسة الطلب، بما فيها ملفات تعريف الارتباط، أكبر مما يُقبل هنا.",
        advice: "يساعد عادةً مسح ملفات تعريف الارتباط لهذا الموقع.")
    case .internalError:
      FailureText(
        heading: "حدث خطأ ما هنا",
        explanation: "هذا خطؤنا نحن، وليس خطأك.",
        advice: "يُرجى إعادة المحاولة. إذا تكرر ذلك، فأبلغ القائمين على \(application).")
    case .notImplemented:
      FailureText(
        heading: "هذا غير مدعوم",
        explanation: "يستخدم الطلب شيئًا غير مدعوم هنا.")
    case .badGateway:
      FailureText(
        heading: "لم يستجب \(application) كما ينبغي",
        explanation: "لقد وصلت إلى الباب، لكن التطبيق الذي خلفه لم يقدّم استجابة صالحة.",
        advice: "يُرجى إعادة المحاولة بعد قليل.")
    case .unavailable:
      FailureText(
        heading: "\(application) غير متاح مؤقتًا",
        explanation: "التطبيق قيد بدء التشغيل أو الإيقاف، أو مشغول جدًا.",
        advice: "يُرجى إعادة المحاولة بعد قليل.")
    case .gatewayTimeout:
      FailureText(
        heading: "تأخّر \(application) في الاستجابة",
        explanation: "لقد وصلت إلى الباب، لكن التطبيق الذي خلفه لم يستجب في الوقت المحدد.",
        advice: "يُرجى إعادة المحاولة بعد قليل.")
    case .versionNotSupported:
      FailureText(
        heading: "إصدار HTTP هذا غير مدعوم",
        explanation: "يستخدم الطلب إصدارًا من HTTP غير مستخدم هنا.")
    }
  }
}
