internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import WebFormats

/// The fields of a request to `callback`: Apple's authorization response in any response mode, as the browser sends it
/// on Apple's behalf, or as our own page posts it.
struct CallbackForm {
  private let fields: FormFields

  /// The form of a `POST`: `form_post`, or posted by our own page.
  init(posted request: ControlRequest) throws(SignInError) {
    guard MediaType.matches(request.head.headerFields[.contentType], "application/x-www-form-urlencoded") else {
      throw SignInError(.unsupportedMediaType, "content_type")
    }
    do throws(FormFieldsError) {
      fields = try FormFields(parsing: request.body)
    } catch {
      throw SignInError(.answerInvalid, "form")
    }
  }

  /// The query of a `GET`: `query`.
  init(queryOf request: ControlRequest) throws(SignInError) {
    do throws(FormFieldsError) {
      fields = try request.query()
    } catch {
      throw SignInError(.answerInvalid, "query")
    }
  }

  /// The field that our own pages add to what they post.
  static let ownPageField = (name: "cordon_repost", value: "1")

  /// Whether our own page has posted the form.
  var isFromOwnPage: Bool { !fields.values(of: Self.ownPageField.name).isEmpty }

  /// The fields for our own page that posts the same form again.
  var repost: [(name: String, value: String)] {
    let received = fields.fields.map {
      (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
    }
    return received + [Self.ownPageField]
  }

  /// Apple's response. Nothing in it is verified.
  func response() throws(SignInError) -> AuthorizationResponse {
    do throws(AuthorizationResponseError) {
      return try AuthorizationResponse.parse(fields)
    } catch {
      throw SignInError(.answerInvalid, "answer")
    }
  }
}
