extension EnglishTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Please sign in",
        explanation: "You need to be signed in to see this.")
    case .formNotSent:
      FailureText(
        heading: "Your form was not sent",
        explanation: "You are signed out of \(application), so what you entered was not passed on and nothing was "
          + "saved.",
        advice: "To keep what you entered, go back and copy it. Then sign in and fill in the form again.")
    case .cancelled:
      FailureText(
        heading: "Sign-in cancelled",
        explanation: "You cancelled at Apple. Nothing was shared, and you are not signed in.")
    case .attemptExpired:
      FailureText(
        heading: "That took a little too long",
        explanation: "A sign-in must be finished within ten minutes, and this one was begun earlier.",
        advice: "Please start again.")
    case .attemptUnknown:
      FailureText(
        heading: "This sign-in was not begun here",
        explanation: "Apple’s answer does not belong to a sign-in of this browser. It may have been begun in "
          + "another browser or a private window, or cookies may be blocked.",
        advice: "Allow cookies for this site, then try again.")
    case .attemptUsed:
      FailureText(
        heading: "This sign-in is finished already",
        explanation: "Each answer from Apple works once, and this one has been used. Reloading or going back "
          + "can lead here.")
    case .answerInvalid:
      FailureText(
        heading: "Apple’s answer was not accepted",
        explanation: "Part of it was missing or could not be verified, so you were not signed in.",
        advice: "Please try again. If this happens again, tell the people who run \(application).")
    case .appleRefused:
      FailureText(
        heading: "Sign-in is out of order",
        explanation: "Apple refused a request of \(application). Your Apple Account is fine, and you did nothing "
          + "wrong.",
        advice: "The people who run \(application) can mend this.")
    case .appleUnreachable:
      FailureText(
        heading: "Apple cannot be reached",
        explanation: "We could not reach Apple to complete your sign-in.",
        advice: "Please try again in a minute.")
    case .storeUnavailable:
      FailureText(
        heading: "Sign-in is unavailable for a moment",
        explanation: "\(application) cannot look up or save sessions right now.",
        advice: "Please try again in a minute.")
    case .forbidden:
      FailureText(
        heading: "No access with this account",
        explanation: "You are signed in, but your Apple Account is not allowed to see this.",
        advice: "If it should be, ask the people who run \(application).")
    case .closed:
      FailureText(
        heading: "This is closed",
        explanation: "Nobody may open this address, signed in or not.")
    case .emailHidden:
      FailureText(
        heading: "No access with a hidden address",
        explanation: "Access depends on your e-mail address, and you have hidden it from \(application).",
        advice: "To share it, open your Apple Account’s settings, remove \(application) under Sign in with Apple, and "
          + "sign in again.")
    case .emailMissing:
      FailureText(
        heading: "No access without an address",
        explanation: "Access depends on your e-mail address, and your Apple Account has not given one.",
        advice: "Ask the people who run \(application), or use an account with an address.")
    case .emailNotVerified:
      FailureText(
        heading: "Your address is not verified",
        explanation: "Access depends on your e-mail address, and Apple has not verified it.",
        advice: "Verify it in your Apple Account’s settings, then sign in again.")
    case .crossSite:
      FailureText(
        heading: "Please do that on our own page",
        explanation: "The request came from another site, so nothing was done.")
    case .badRequest:
      FailureText(
        heading: "This request cannot be understood",
        explanation: "Something in the address or the request is not valid, so it went no further.",
        advice: "Check the address, or begin at the start page.")
    case .notFound:
      FailureText(
        heading: "There is nothing here",
        explanation: "The page at this address does not exist.",
        advice: "Check the address, or begin at the start page.")
    case .methodNotAllowed:
      FailureText(
        heading: "That cannot be done here",
        explanation: "This page exists, but not for this kind of request.")
    case .requestTimeout:
      FailureText(
        heading: "The request took too long",
        explanation: "It did not arrive in full in time.",
        advice: "Check your connection, then try again.")
    case .contentTooLarge:
      FailureText(
        heading: "That is too large",
        explanation: "What was sent is larger than is accepted here, so it was not processed.")
    case .targetTooLong:
      FailureText(
        heading: "The address is too long",
        explanation: "It is longer than is accepted here.")
    case .unsupportedMediaType:
      FailureText(
        heading: "This kind of data is not accepted",
        explanation: "What was sent is not in a form that is understood here.")
    case .expectationFailed:
      FailureText(
        heading: "The request expects too much",
        explanation: "It asks for something that is not supported here.")
    case .misdirected:
      FailureText(
        heading: "This is another site’s address",
        explanation: "The request asked for a site that is not served here.",
        advice: "Check the address in your browser.")
    case .tooManyRequests:
      FailureText(
        heading: "Too many requests",
        explanation: "More requests came from you than are accepted in so short a time.",
        advice: "Please wait half a minute, then try again.")
    case .headTooLarge:
      FailureText(
        heading: "The request carries too much",
        explanation: "Its header, cookies included, is larger than is accepted here.",
        advice: "Clearing the cookies of this site usually helps.")
    case .internalError:
      FailureText(
        heading: "Something went wrong here",
        explanation: "This is our mistake, not yours.",
        advice: "Please try again. If this happens again, tell the people who run \(application).")
    case .notImplemented:
      FailureText(
        heading: "That is not supported",
        explanation: "The request uses something that is not supported here.")
    case .badGateway:
      FailureText(
        heading: "\(application) did not answer properly",
        explanation: "You reached the door, but the application behind it gave no usable answer.",
        advice: "Please try again in a moment.")
    case .unavailable:
      FailureText(
        heading: "\(application) is unavailable for a moment",
        explanation: "It is starting, stopping or very busy.",
        advice: "Please try again in a moment.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) took too long to answer",
        explanation: "You reached the door, but the application behind it did not answer in time.",
        advice: "Please try again in a moment.")
    case .versionNotSupported:
      FailureText(
        heading: "That version of HTTP is not supported",
        explanation: "The request uses a version of HTTP that is not spoken here.")
    }
  }
}
