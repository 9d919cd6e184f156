import Foundation
import Testing
import WebFormats

@testable import Pages

@Suite("Failures")
struct FailureTests {
  @Test("Each failure has its own words, and a way on or advice", arguments: PageFailure.allCases)
  func words(failure: PageFailure) throws {
    let text = EnglishTexts().text(failure, application: "Orchard")
    #expect(!text.heading.isEmpty && !text.explanation.isEmpty && text.advice != "")
    #expect(text.heading.utf8.count <= 50, "a heading is a few words")
    #expect(!failure.ways.isEmpty || text.advice != nil)
    let same = PageFailure.allCases.filter { EnglishTexts().text($0, application: "Orchard").heading == text.heading }
    #expect(same == [failure])
    let html = String(decoding: renderer(named: "Orchard").failure(failure).body, as: UTF8.self)
    #expect(html.contains("<div role=\"alert\">\n<h1>\(Markup(escaping: text.heading).html)</h1>"))
    #expect(html.contains(Markup(escaping: text.explanation).html))
    #expect(html.contains("<title>\(Markup(escaping: text.heading).html) – Orchard</title>"))
  }

  @Test(
    "Each failure has its status code",
    arguments: [
      (.signInRequired, 401), (.cancelled, 403), (.attemptExpired, 400), (.attemptUnknown, 400), (.attemptUsed, 400),
      (.attemptEnded, 400), (.cancelledAgain, 403),
      (.answerInvalid, 400), (.appleRefused, 502), (.appleUnreachable, 503), (.storeUnavailable, 503),
      (.forbidden, 403), (.formNotSent, 401), (.formIncomplete, 401), (.formUnanswered, 401),
      (.reauthenticationRequired, 401), (.network, 403),
      (.banned, 403), (.accessRequestsFull, 503), (.invitationInvalid, 404),
      (.crossSite, 403), (.badRequest, 400), (.notFound, 404), (.methodNotAllowed, 405), (.requestTimeout, 408),
      (.lengthRequired, 411), (.contentTooLarge, 413), (.targetTooLong, 414), (.unsupportedMediaType, 415),
      (.expectationFailed, 417),
      (.misdirected, 421), (.tooManyRequests, 429), (.headTooLarge, 431), (.internalError, 500), (.notImplemented, 501),
      (.badGateway, 502), (.unavailable, 503), (.gatewayTimeout, 504), (.versionNotSupported, 505),
    ] as [(PageFailure, Int)])
  func status(failure: PageFailure, status: Int) throws {
    let renderer = renderer(named: "Orchard")
    #expect(renderer.failure(failure).status == status)
    #expect(renderer.failureJSON(failure).status == status)
  }

  @Test("The codes that programs read from the JSON form are as recorded")
  func codes() {
    #expect(
      PageFailure.allCases.map(\.rawValue) == [
        "sign_in_required", "reauthentication_required", "form_not_sent", "form_incomplete", "form_unanswered",
        "sign_in_cancelled", "new_sign_in_cancelled",
        "attempt_expired", "attempt_unknown", "attempt_used", "attempt_ended", "answer_invalid", "apple_refused",
        "apple_unreachable", "store_unavailable", "forbidden", "closed",
        "network", "banned", "access_requests_full", "invitation_invalid", "email_hidden", "email_missing",
        "email_not_verified", "cross_site", "bad_request", "not_found",
        "method_not_allowed", "request_timeout", "length_required", "content_too_large", "uri_too_long",
        "unsupported_media_type",
        "expectation_failed", "misdirected_request", "too_many_requests", "header_fields_too_large", "internal_error",
        "not_implemented", "bad_gateway", "service_unavailable", "gateway_timeout", "http_version_not_supported",
      ])
  }

  @Test("The page of a temporary failure says when to try again")
  func retryAfter() throws {
    let renderer = renderer(named: "Orchard")
    for failure in [PageFailure.storeUnavailable, .appleUnreachable, .unavailable, .tooManyRequests] {
      for page in [renderer.failure(failure), renderer.failureJSON(failure)] {
        #expect(page.fields.contains { $0.name == "retry-after" && Int($0.value) ?? 0 > 0 })
      }
    }
    #expect(!renderer.failure(.notFound).fields.contains { $0.name == "retry-after" })
  }

  @Test("The ways on carry where the user wanted to go")
  func ways() throws {
    #expect(try html(.cancelled).contains("href=\"/.auth/sign-in?return_to=/r%3Fq%3D1\">Sign in</a>"))
    #expect(try html(.attemptExpired).contains("href=\"/.auth/sign-in?return_to=/r%3Fq%3D1\">Try again</a>"))
    #expect(try html(.attemptUsed).contains("href=\"/r?q=1\">Continue</a>"))
    #expect(try html(.gatewayTimeout).contains("href=\"/r?q=1\">Try again</a>"))
    #expect(
      try html(.forbidden).contains("href=\"/.auth/authorize?return_to=/r%3Fq%3D1\">Use another Apple Account</a>"))
    #expect(try html(.forbidden).contains("href=\"/\">Go to the start page</a>"))
    #expect(try !html(.misdirected).contains("<a "))
  }

  @Test("On a host, another account is for its sign-in to ask, and a page for it elsewhere leads back to it")
  func waysOfHosts() throws {
    let renderer = PageRenderer(
      settings: PageSettings(), host: "wiki.example.com", prefix: "/.auth", isOfHost: true)
    let forbidden = String(decoding: renderer.failure(.forbidden, returnTo: "/r?q=1").body, as: UTF8.self)
    #expect(forbidden.contains("href=\"/.auth/sign-in?return_to=/r%3Fq%3D1&amp;new=1\">Use another Apple Account</a>"))
    let elsewhere = renderer.leading(to: "https://wiki.example.com")
    for (failure, link) in [
      (PageFailure.cancelled, "/.auth/sign-in?return_to=/r"), (.forbidden, "/.auth/sign-in?return_to=/r&amp;new=1"),
      (.attemptUsed, "/r"), (.forbidden, "/"),
      (.reauthenticationRequired, "/.auth/sign-in?return_to=/r&amp;new=1"),
    ] {
      let html = String(decoding: elsewhere.failure(failure, returnTo: "/r").body, as: UTF8.self)
      #expect(html.contains("href=\"https://wiki.example.com\(link)\""), "\(failure)")
    }
  }

  @Test("The page of a form that was stopped is true also for a visitor who has never signed in")
  func stoppedForms() throws {
    for failure in [PageFailure.formIncomplete, .formUnanswered] {
      #expect(try html(failure).contains("You are signed out of Orchard"))
    }
  }

  @Test("The request's identifier is shown for the operator, if there is one")
  func requestID() throws {
    let renderer = renderer(named: "Orchard")
    let with = String(decoding: renderer.failure(.internalError, requestID: "01JD").body, as: UTF8.self)
    #expect(with.contains("<code>01JD</code>"))
    #expect(!String(decoding: renderer.failure(.internalError).body, as: UTF8.self).contains("<code>"))
  }

  @Test("Programs get JSON that parses, whatever stands in it")
  func json() throws {
    let hostile = "a\"b\\c\n\u{0}\u{7F}</script>\u{301}é\u{1F34E}"
    let page = renderer(named: hostile).failureJSON(.appleRefused, requestID: hostile)
    #expect(page.contentType == "application/json")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(page.body)) as? [String: String])
    #expect(object["error"] == "apple_refused")
    #expect(object["message"]?.contains(hostile) == true)
    #expect(object["request_id"] == hostile)
    #expect(object["sign_in"] == "/.auth/sign-in")
    #expect(!page.body.contains(UInt8(ascii: "<")))
  }

  @Test("JSON says only what is known, and where to sign in only if that would help")
  func sparseJSON() throws {
    let body = renderer(named: "Orchard").failureJSON(.notFound).body
    #expect(
      String(decoding: body, as: UTF8.self)
        == "{\"error\":\"not_found\",\"message\":\"There is no page at this address.\"}\n")
  }

  @Test("Accept chooses between the page and the JSON of a failure")
  func chosen() throws {
    let renderer = renderer(named: "Orchard")
    #expect(renderer.failure(.notFound, accept: Array("text/html".utf8)).contentType == "text/html; charset=utf-8")
    #expect(renderer.failure(.notFound, accept: Array("*/*".utf8)).contentType == "application/json")
  }

  private func html(_ failure: PageFailure) throws -> String {
    String(decoding: renderer(named: "Orchard").failure(failure, returnTo: "/r?q=1").body, as: UTF8.self)
  }
}
