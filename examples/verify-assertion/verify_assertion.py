"""Verifies X-Identity-Assertion, a signed JWT with the identity of the user, which the gateway adds to each request.

Requires Debian's python3-jwt and python3-cryptography. In an application:

    verifier = AssertionVerifier("https://app.example.com/.auth/keys", "https://app.example.com", "orders")
    claims = verifier.verify(environ.get("HTTP_X_IDENTITY_ASSERTION"))      # raises InvalidAssertion

By hand: python3 verify_assertion.py KEYS-URL ISSUER AUDIENCE < assertion
"""

import json
import sys
import threading
import time
import urllib.request

import jwt

LONGEST = 16 * 1024
"""Maximum length of an assertion, in bytes. Genuine ones have less than 1,000."""

COOL_DOWN = 10
"""Minimum time between two fetches of the keys, in seconds: anyone can send a token with an unknown kid."""

MAXIMUM_AGE = 300
"""Time for which fetched keys are cached, in seconds."""

LEEWAY = 60
"""Tolerated clock skew: how far the gateway's clock may be ahead, in seconds."""


class InvalidAssertion(Exception):
    """The assertion is invalid: reject the request."""


class AssertionVerifier:
    """Verifies assertions, and caches the gateway's public keys. Use one instance in a process."""

    def __init__(self, keys_url, issuer, audience, clock=time.time):
        self._keys_url = keys_url
        self._issuer = issuer
        self._audience = audience
        self._clock = clock
        self._keys = {}
        self._fetched = float("-inf")
        self._lock = threading.Lock()

    def verify(self, assertion):
        """Verifies an assertion and returns its claims: sub, sid, email, ..."""
        if not assertion or len(assertion) > LONGEST:
            raise InvalidAssertion("there is none, or it is too long")
        try:
            header = jwt.get_unverified_header(assertion)
            if "crit" in header:
                raise InvalidAssertion("it has an extension")
            # Never use the token's alg to choose the algorithm. Its kid only selects one of the gateway's keys.
            claims = jwt.decode(
                assertion,
                self._key(header.get("kid")),
                algorithms=["ES256"],
                issuer=self._issuer,
                audience=self._audience,
                # PyJWT would refuse an iat that is one second ahead.
                options={"require": ["iss", "aud", "sub", "iat", "exp"], "verify_iat": False},
            )
        except jwt.PyJWTError as error:
            raise InvalidAssertion(str(error)) from error
        if not isinstance(claims["iat"], int) or claims["iat"] > self._clock() + LEEWAY:
            raise InvalidAssertion("it was made in the future")
        return claims

    def _key(self, identifier):
        with self._lock:
            age = self._clock() - self._fetched
            if age > MAXIMUM_AGE or (identifier not in self._keys and age > COOL_DOWN):
                self._fetch()
            if identifier not in self._keys:
                raise InvalidAssertion("it names a key that the gateway does not publish")
            return self._keys[identifier]

    def _fetch(self):
        self._fetched = self._clock()
        with urllib.request.urlopen(self._keys_url, timeout=5) as response:
            document = json.loads(response.read(64 * 1024))
        self._keys = {
            key["kid"]: jwt.PyJWK(key).key
            for key in document["keys"]
            if key.get("kty") == "EC" and key.get("crv") == "P-256"
        }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    verifier = AssertionVerifier(*sys.argv[1:])
    try:
        print(json.dumps(verifier.verify(sys.stdin.read(LONGEST + 1).strip())))
    except InvalidAssertion as error:
        sys.exit(f"invalid assertion: {error}")


if __name__ == "__main__":
    main()
