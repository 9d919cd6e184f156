extension ButtonLocale {
  /// The text of the button, in Apple's translation: for screen readers, and where the button is drawn.
  package func title(_ type: ButtonSettings.Kind) -> String {
    switch type {
    case .signIn: titles.signIn
    case .proceed: titles.proceed
    }
  }

  private var titles: (signIn: String, proceed: String) {
    switch self {
    case .arabic: ("تسجيل الدخول باستخدام Apple", "المتابعة باستخدام Apple")
    case .catalan: ("Inicia sessió amb Apple", "Continua amb Apple")
    case .czech: ("Přihlásit se přes Apple", "Pokračovat přes Apple")
    case .danish: ("Log ind med Apple", "Fortsæt med Apple")
    case .german: ("Mit Apple anmelden", "Mit Apple fortfahren")
    case .greek: ("Σύνδεση μέσω Apple", "Συνέχεια με Apple")
    case .english, .englishBritain: ("Sign in with Apple", "Continue with Apple")
    case .spanish, .spanishMexico: ("Iniciar sesión con Apple", "Continuar con Apple")
    case .finnish: ("Kirjaudu sisään Applella", "Jatka Applella")
    case .french, .frenchCanada: ("Se connecter avec Apple", "Continuer avec Apple")
    case .croatian: ("Prijava s Appleom", "Nastavi s Appleom")
    case .hungarian: ("Bejelentkezés az Apple-lel", "Folytatás az Apple-lel")
    case .indonesian: ("Masuk dengan Apple", "Lanjutkan dengan Apple")
    case .italian: ("Accedi con Apple", "Continua con Apple")
    case .hebrew: ("התחברות עם Apple", "המשך עם Apple")
    case .japanese: ("Appleでサインイン", "Appleで続ける")
    case .korean: ("Apple로 로그인", "Apple로 계속하기")
    case .malay: ("Log Masuk dengan Apple", "Teruskan dengan Apple")
    case .dutch: ("Log in met Apple", "Ga door met Apple")
    case .norwegian: ("Logg på med Apple", "Fortsett med Apple")
    case .polish: ("Zaloguj się przez Apple", "Kontynuuj przez Apple")
    case .portugueseBrazil, .portuguese: ("Iniciar sessão com a Apple", "Continuar com a Apple")
    case .romanian: ("Conectați-vă cu Apple", "Continuați cu Apple")
    case .russian: ("Вход с Apple", "Продолжить с Apple")
    case .slovak: ("Prihlásiť sa cez Apple", "Pokračovať cez Apple")
    case .swedish: ("Logga in med Apple", "Fortsätt med Apple")
    case .thai: ("ลงชื่อเข้าด้วย Apple", "ดำเนินการต่อด้วย Apple")
    case .turkish: ("Apple ile Giriş Yap", "Apple ile Devam Et")
    case .ukrainian: ("Вхід з Apple", "Продовжити з Apple")
    case .vietnamese: ("Đăng nhập bằng Apple", "Tiếp tục với Apple")
    case .chinese: ("通过 Apple 登录", "通过 Apple 继续")
    case .chineseHongKong, .chineseTaiwan: ("使用 Apple 登入", "使用 Apple 繼續")
    }
  }
}
