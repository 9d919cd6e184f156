/*
 * Verifies X-Identity-Assertion, a signed JWT with the identity of the user, which the gateway adds to each request.
 *
 * Requires Node 18 or newer, and no packages. In an application:
 *
 *     import { AssertionVerifier } from './verify-assertion.mjs'
 *     const verifier = new AssertionVerifier('https://app.example.com/.auth/keys', 'https://app.example.com', 'orders')
 *     const claims = await verifier.verify(request.headers['x-identity-assertion'])   // throws InvalidAssertion
 *
 * By hand: node verify-assertion.mjs KEYS-URL ISSUER AUDIENCE < assertion
 */
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** Maximum length of an assertion, in bytes. Genuine ones have less than 1,000. */
const longest = 16 * 1024
/** Minimum time between two fetches of the keys, in seconds: anyone can send a token with an unknown kid. */
const coolDown = 10
/** Time for which fetched keys are cached, in seconds. */
const maximumAge = 300
/** Tolerated clock skew: how far the gateway's clock may be ahead, in seconds. */
const leeway = 60

/** The assertion is invalid: reject the request. */
export class InvalidAssertion extends Error {}

/** Verifies assertions, and caches the gateway's public keys. Use one instance in a process. */
export class AssertionVerifier {
  #keysURL
  #issuer
  #audience
  #keys = new Map()
  #fetched = -Infinity
  #fetching

  constructor(keysURL, issuer, audience) {
    this.#keysURL = keysURL
    this.#issuer = issuer
    this.#audience = audience
  }

  /** Verifies an assertion and returns its claims: sub, sid, email, ... */
  async verify(assertion) {
    if (typeof assertion !== 'string' || assertion.length > longest) throw new InvalidAssertion('there is none')
    const parts = assertion.split('.')
    if (parts.length !== 3 || !parts.every((part) => /^[A-Za-z0-9_-]+$/.test(part))) {
      throw new InvalidAssertion('it is malformed')
    }
    const header = decode(parts[0])
    // Never use the token's alg to choose the algorithm. Its kid only selects one of the gateway's keys.
    if (header.alg !== 'ES256' || typeof header.kid !== 'string' || 'crit' in header) {
      throw new InvalidAssertion('it is not signed with ES256')
    }
    const key = await this.#key(header.kid)
    const signature = Buffer.from(parts[2], 'base64url')
    const isGood = verify('sha256', Buffer.from(`${parts[0]}.${parts[1]}`), { key, dsaEncoding: 'ieee-p1363' }, signature)
    if (!isGood) throw new InvalidAssertion('its signature is wrong')
    const claims = decode(parts[1])
    const now = Date.now() / 1000
    if (claims.iss !== this.#issuer) throw new InvalidAssertion('another issuer made it')
    if (claims.aud !== this.#audience) throw new InvalidAssertion('it is for somebody else')
    if (typeof claims.sub !== 'string' || claims.sub === '') throw new InvalidAssertion('it has no sub')
    if (!Number.isInteger(claims.exp) || claims.exp <= now) throw new InvalidAssertion('it has expired')
    if (!Number.isInteger(claims.iat) || claims.iat > now + leeway) throw new InvalidAssertion('it was made in the future')
    return claims
  }

  async #key(identifier) {
    const age = Date.now() / 1000 - this.#fetched
    if (age > maximumAge || (!this.#keys.has(identifier) && age > coolDown)) {
      this.#fetching ??= this.#fetch().finally(() => { this.#fetching = undefined })
    }
    await this.#fetching
    const key = this.#keys.get(identifier)
    if (!key) throw new InvalidAssertion('it names a key that the gateway does not publish')
    return key
  }

  async #fetch() {
    this.#fetched = Date.now() / 1000
    const response = await fetch(this.#keysURL, { signal: AbortSignal.timeout(5000) })
    if (!response.ok) throw new Error(`the keys at ${this.#keysURL} cannot be had: ${response.status}`)
    const { keys } = await response.json()
    this.#keys = new Map(
      keys.filter((key) => key.kty === 'EC' && key.crv === 'P-256')
        .map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]))
  }
}

function decode(part) {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value
  } catch {
    // Reported below, like any other value that is not an object.
  }
  throw new InvalidAssertion('it is malformed')
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [keysURL, issuer, audience] = process.argv.slice(2)
  if (!audience) {
    console.error('usage: node verify-assertion.mjs KEYS-URL ISSUER AUDIENCE < assertion')
    process.exit(64)
  }
  try {
    const assertion = readFileSync(0, 'utf8').trim()
    console.log(JSON.stringify(await new AssertionVerifier(keysURL, issuer, audience).verify(assertion)))
  } catch (error) {
    if (!(error instanceof InvalidAssertion)) throw error
    console.error(`invalid assertion: ${error.message}`)
    process.exit(1)
  }
}
