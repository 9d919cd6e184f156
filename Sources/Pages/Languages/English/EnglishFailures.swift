extension EnglishTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Please sign in",
        explanation: "You need to be signed in to see this.")
    case .reauthenticationRequired:
      FailureText(
        heading: "Please sign in again",
        explanation: "This part of \(application) needs a more recent sign-in.",
        advice: "If you sent a form, it was not passed on. Go back and copy what you entered before you sign in.")
    case .formNotSent:
      FailureText(
        heading: "Your form was not sent",
        explanation: "You are signed out of \(application), so what you entered was not passed on and nothing was "
          + "saved.",
        advice: "To keep what you entered, go back and copy it. Then sign in and fill in the form again.")
    case .formIncomplete:
      FailureText(
        heading: "Your form was not sent completely",
        explanation: "You are signed out of \(application), so the upload of your form was stopped: \(application) did "
          + "not receive all of it.",
        advice: "To keep what you entered, go back and copy it. Then sign in, check whether anything was saved, "
          + "and fill in the form again.")
    case .formUnanswered:
      FailureText(
        heading: "Your form may have been processed",
        explanation: "You are signed out of \(application). Your form had been sent, but there was no response yet.",
        advice: "Sign in and check whether your form was processed before you send it again.")
    case .cancelled:
      FailureText(
        heading: "Sign-in cancelled",
        explanation: "You cancelled at Apple. Nothing was shared, and you are not signed in.")
    case .cancelledAgain:
      FailureText(
        heading: "You are still signed in",
        explanation: "You cancelled the new sign-in at Apple. Nothing was shared, and your session continues.")
    case .attemptExpired:
      FailureText(
        heading: "Your sign-in took too long",
        explanation: "A sign-in must be completed within ten minutes.",
        advice: "Please start again.")
    case .attemptUnknown:
      FailureText(
        heading: "This sign-in was started in another browser",
        explanation: "Apple’s answer does not belong to a sign-in in this browser. You may have started it in another "
          + "browser or a private window, or cookies may be blocked.",
        advice: "Allow cookies for this site, then try again.")
    case .attemptUsed:
      FailureText(
        heading: "You have already completed this sign-in",
        explanation: "Each answer from Apple works only once. Reloading the page or going back can bring you here.")
    case .attemptEnded:
      FailureText(
        heading: "This sign-in has ended",
        explanation: "Each answer from Apple works only once, and this one has already been used. Reloading the page "
          + "can bring you here.",
        advice: "Please start again.")
    case .answerInvalid:
      FailureText(
        heading: "Apple’s answer was not accepted",
        explanation: "Part of it was missing or could not be verified, so you were not signed in.",
        advice: "Please try again. If this happens again, contact the operator of \(application).")
    case .appleRefused:
      FailureText(
        heading: "Sign-in is currently unavailable",
        explanation: "Apple did not accept a request from \(application). Your Apple Account is fine, and you did "
          + "nothing wrong.",
        advice: "Please contact the operator of \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "Apple is not responding",
        explanation: "We could not reach Apple to complete your sign-in.",
        advice: "Please try again in a minute.")
    case .storeUnavailable:
      FailureText(
        heading: "Sign-in is temporarily unavailable",
        explanation: "\(application) cannot load or save sign-ins right now.",
        advice: "Please try again in a minute.")
    case .forbidden:
      FailureText(
        heading: "This account does not have access",
        explanation: "You are signed in, but your Apple Account is not allowed to see this page.",
        advice: "If you need access, contact the operator of \(application).")
    case .closed:
      FailureText(
        heading: "This page is not available",
        explanation: "Nobody can open this page, signed in or not.")
    case .network:
      FailureText(
        heading: "Not available from your network",
        explanation: "This page of \(application) can only be opened from certain networks.",
        advice: "Connect to the right network, for example by VPN, and try again.")
    case .banned:
      FailureText(
        heading: "Your account is blocked",
        explanation: "The operator of \(application) has blocked your account.",
        advice: "If you think this is a mistake, contact the operator of \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "No more requests at the moment",
        explanation: "Too many people have asked for access already, so your request was not saved.",
        advice: "Contact the operator of \(application), or try again later.")
    case .invitationInvalid:
      FailureText(
        heading: "This invitation is not valid",
        explanation: "It was used up, has ended or was withdrawn, or the link is incomplete.",
        advice: "Ask for a new invitation.")
    case .emailHidden:
      FailureText(
        heading: "No access with a hidden e-mail address",
        explanation: "Access depends on your e-mail address, but you have hidden it from \(application).",
        advice: "To share it, open your Apple Account’s settings, remove \(application) under Sign in with Apple, and "
          + "sign in again.")
    case .emailMissing:
      FailureText(
        heading: "No access without an e-mail address",
        explanation: "Access depends on your e-mail address, but your Apple Account did not provide one.",
        advice: "Contact the operator of \(application), or use an account with an e-mail address.")
    case .emailNotVerified:
      FailureText(
        heading: "Your e-mail address is not verified",
        explanation: "Access depends on your e-mail address, and Apple has not verified it.",
        advice: "Verify it in your Apple Account’s settings, then sign in again.")
    case .crossSite:
      FailureText(
        heading: "Please use our own page for this",
        explanation: "The request came from another website, so nothing was changed.")
    case .badRequest:
      FailureText(
        heading: "This request is not valid",
        explanation: "Something is wrong with the address or the request.",
        advice: "Check the address, or go to the start page.")
    case .notFound:
      FailureText(
        heading: "Page not found",
        explanation: "There is no page at this address.",
        advice: "Check the address, or go to the start page.")
    case .methodNotAllowed:
      FailureText(
        heading: "This is not possible here",
        explanation: "The page exists, but it does not support this kind of request.")
    case .requestTimeout:
      FailureText(
        heading: "The request took too long",
        explanation: "It did not arrive completely in time.",
        advice: "Check your connection, then try again.")
    case .lengthRequired:
      FailureText(
        heading: "The length is missing",
        explanation:
          "The application accepts an upload of this size only if its length is announced "
          + "before it, so it was not processed.")
    case .contentTooLarge:
      FailureText(
        heading: "This is too large",
        explanation: "You sent more data than is allowed here, so it was not processed.")
    case .targetTooLong:
      FailureText(
        heading: "The address is too long",
        explanation: "It is longer than is allowed here.")
    case .unsupportedMediaType:
      FailureText(
        heading: "This kind of data is not supported",
        explanation: "The data you sent has a format that is not supported here.")
    case .expectationFailed:
      FailureText(
        heading: "This request is not supported",
        explanation: "It requires something that is not supported here.")
    case .misdirected:
      FailureText(
        heading: "This address belongs to another website",
        explanation: "The request was for a website that is not available here.",
        advice: "Check the address in your browser.")
    case .tooManyRequests:
      FailureText(
        heading: "Too many requests",
        explanation: "You sent too many requests in a short time.",
        advice: "Please wait half a minute, then try again.")
    case .headTooLarge:
      FailureText(
        heading: "The request is too large",
        explanation: "Its headers, including cookies, are larger than is allowed here.",
        advice: "Deleting the cookies of this site usually helps.")
    case .internalError:
      FailureText(
        heading: "Something went wrong",
        explanation: "This is our mistake, not yours.",
        advice: "Please try again. If this happens again, contact the operator of \(application).")
    case .notImplemented:
      FailureText(
        heading: "This is not supported",
        explanation: "The request uses something that is not supported here.")
    case .badGateway:
      FailureText(
        heading: "\(application) is not responding correctly",
        explanation: "The application did not send a valid response.",
        advice: "Please try again in a moment.")
    case .unavailable:
      FailureText(
        heading: "\(application) is temporarily unavailable",
        explanation: "It is starting, stopping or very busy.",
        advice: "Please try again in a moment.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) is not responding",
        explanation: "The application did not respond in time.",
        advice: "Please try again in a moment.")
    case .versionNotSupported:
      FailureText(
        heading: "This version of HTTP is not supported",
        explanation: "The request uses a version of HTTP that is not supported here.")
    }
  }
}
