import AccessPolicy
import WebFormats

/// A route while it is read.
struct RouteBuilder: DecodingTarget {
  var host: String?
  var path = ""
  var match = RouteSettings.Match.prefix
  var access: Access?
  var unauthenticated: Unauthenticated?
  var upstream: String?
  var bodyRate: Int?
  var keptFormBytes: Int?
  var lists = AllowListsBuilder()
  var privateEmail: AccessConditions.PrivateEmail?
  var requirements: [ClaimRequirement]?
  var denied = DenyLists()
  var methods: [String]?
  var networks: [NetworkPrefix]?
  var maxAge: Duration?
  var tokens: Bool?
  var preflight: RouteSettings.Preflight?

  enum Access: String, Sendable, CaseIterable {
    case signedIn = "signed-in"
    case `public`, deny
    case signOut = "sign-out"
  }

  var conditions: AccessConditions { AccessConditions(privateEmail ?? .allow, requirements ?? [], denied) }
}
