import SessionStoreTesting
import Sessions
import Testing

let noon = TestSignIn.time

func signIn(_ name: String = "ada") throws -> SignIn { try TestSignIn.of(name) }
