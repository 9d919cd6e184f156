internal import WebFormats

/// The parts of a page around its content.
struct PageFrame {
  var status = 200
  /// The title of the document.
  var title: Markup
  /// The identifier by which the operator finds the request; nil if the page does not show it.
  var requestID: String?
  /// The only script that may run.
  var script: Markup?
  /// Whether the script may ask our own origin.
  var allowsRequests = false
  var formAction = ContentSecurityPolicy.FormAction.nowhere
  /// Rules that the page needs beside those of Apple's button and of the stylesheet.
  var style: Markup = ""
}
