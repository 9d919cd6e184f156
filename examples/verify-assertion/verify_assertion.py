"""Verifies X-Identity-Assertion, the header by which the gateway says in signed form who a request's user is.

Wants Debian's python3-jwt and python3-cryptography. In an application:

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
"""The longest assertion looked at, in bytes; honest ones have less than one thousand."""

COOL_DOWN = 10
"""The least time between two fetches of the keys, in seconds: anybody can write a token with an unknown key."""

MAXIMUM_AGE = 300
"""How long fetched keys are used, in seconds."""


class InvalidAssertion(Exception):
    """The request must not be believed to come from this user."""


class AssertionVerifier:
    """Keeps the gateway's public keys, and judges assertions. One for a whole process."""

    def __init__(self, keys_url, issuer, audience, clock=time.time):
        self._keys_url = keys_url
        self._issuer = issuer
        self._audience = audience
        self._clock = clock
        self._keys = {}
        self._fetched = float("-inf")
        self._lock = threading.Lock()

    def verify(self, assertion):
        """The claims of an assertion that is good: sub, sid, email, ..."""
        if not assertion or len(assertion) > LONGEST:
            raise InvalidAssertion("there is none, or it is too long")
        try:
            header = jwt.get_unverified_header(assertion)
            # The algorithm is ours to say, never the token's; so is the key, which is only looked up by its name.
            return jwt.decode(
                assertion,
                self._key(header.get("kid")),
                algorithms=["ES256"],
                issuer=self._issuer,
                audience=self._audience,
                options={"require": ["iss", "aud", "sub", "iat", "exp"]},
            )
        except jwt.PyJWTError as error:
            raise InvalidAssertion(str(error)) from error

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
        sys.exit(f"not to be believed: {error}")


if __name__ == "__main__":
    main()
