<?php
/*
 * Verifies X-Identity-Assertion, a signed JWT with the identity of the user, which the gateway adds to each request.
 *
 * Requires PHP 8 with openssl (Debian's php-cli or php-fpm have it). In an application:
 *
 *     require 'verify-assertion.php';
 *     $verifier = new AssertionVerifier('https://app.example.com/.auth/keys', 'https://app.example.com', 'orders');
 *     $claims = $verifier->verify($_SERVER['HTTP_X_IDENTITY_ASSERTION'] ?? '');    // throws InvalidAssertion
 *
 * By hand: php verify-assertion.php KEYS-URL ISSUER AUDIENCE < assertion
 */
declare(strict_types=1);

/** The assertion is invalid: reject the request. */
final class InvalidAssertion extends Exception {}

/** Verifies assertions, and caches the gateway's public keys in a file for a few minutes. */
final class AssertionVerifier
{
    /** Maximum length of an assertion, in bytes. Genuine ones have less than 1,000. */
    public const LONGEST = 16384;
    /** Minimum time between two fetches of the keys, in seconds: anyone can send a token with an unknown kid. */
    private const COOL_DOWN = 10;
    /** Time for which fetched keys are cached, in seconds. */
    private const MAXIMUM_AGE = 300;
    /** Tolerated clock skew: how far the gateway's clock may be ahead, in seconds. */
    private const LEEWAY = 60;
    /** DER prefix of a P-256 public key, before its point (RFC 5480, 2). */
    private const DER_PREFIX = '3059301306072a8648ce3d020106082a8648ce3d030107034200';

    /**
     * @param string|null $cacheFile caches the keys between requests: a file in a folder that only the application can
     *   write. Without it, the keys are fetched for each request.
     */
    public function __construct(
        private readonly string $keysURL,
        private readonly string $issuer,
        private readonly string $audience,
        private readonly ?string $cacheFile = null,
    ) {}

    /** Verifies an assertion and returns its claims: sub, sid, email, ... */
    public function verify(string $assertion): array
    {
        $parts = explode('.', $assertion);
        if (strlen($assertion) > self::LONGEST || count($parts) !== 3) {
            throw new InvalidAssertion('there is none, or it is not an assertion');
        }
        $header = self::object($parts[0]);
        // Never use the token's alg to choose the algorithm. Its kid only selects one of the gateway's keys.
        if (($header['alg'] ?? null) !== 'ES256' || !is_string($header['kid'] ?? null) || isset($header['crit'])) {
            throw new InvalidAssertion('it is not signed with ES256');
        }
        $signature = self::derSignature(self::decode($parts[2]));
        $key = self::publicKey($this->key($header['kid']));
        if (openssl_verify("$parts[0].$parts[1]", $signature, $key, OPENSSL_ALGO_SHA256) !== 1) {
            throw new InvalidAssertion('its signature is wrong');
        }
        $claims = self::object($parts[1]);
        if (($claims['iss'] ?? null) !== $this->issuer) throw new InvalidAssertion('another issuer made it');
        if (($claims['aud'] ?? null) !== $this->audience) throw new InvalidAssertion('it is for somebody else');
        if (!is_string($claims['sub'] ?? null) || $claims['sub'] === '') throw new InvalidAssertion('it has no sub');
        if (!is_int($claims['exp'] ?? null) || $claims['exp'] <= time()) throw new InvalidAssertion('it has expired');
        if (!is_int($claims['iat'] ?? null) || $claims['iat'] > time() + self::LEEWAY) {
            throw new InvalidAssertion('it was made in the future');
        }
        return $claims;
    }

    /** The key with this kid, as a JWK. */
    private function key(string $identifier): array
    {
        $fetched = 0;
        $keys = [];
        if ($this->cacheFile !== null && is_readable($this->cacheFile)) {
            ['fetched' => $fetched, 'keys' => $keys] = json_decode(file_get_contents($this->cacheFile), true);
        }
        $age = time() - $fetched;
        if ($age > self::MAXIMUM_AGE || (!isset($keys[$identifier]) && $age > self::COOL_DOWN)) {
            $keys = $this->fetch();
            if ($this->cacheFile !== null) {
                file_put_contents($this->cacheFile, json_encode(['fetched' => time(), 'keys' => $keys]), LOCK_EX);
            }
        }
        return $keys[$identifier] ?? throw new InvalidAssertion('it names a key that the gateway does not publish');
    }

    private function fetch(): array
    {
        $text = file_get_contents($this->keysURL, false, stream_context_create(['http' => ['timeout' => 5]]));
        if ($text === false) throw new RuntimeException("the keys at $this->keysURL cannot be had");
        $keys = [];
        foreach (json_decode($text, true, 8, JSON_THROW_ON_ERROR)['keys'] as $key) {
            if (($key['kty'] ?? '') === 'EC' && ($key['crv'] ?? '') === 'P-256') $keys[$key['kid']] = $key;
        }
        return $keys;
    }

    private static function publicKey(array $jwk): OpenSSLAsymmetricKey
    {
        [$x, $y] = [self::decode($jwk['x']), self::decode($jwk['y'])];
        if (strlen($x) !== 32 || strlen($y) !== 32) throw new InvalidAssertion('its key is malformed');
        $der = hex2bin(self::DER_PREFIX) . "\x04$x$y";
        $pem = "-----BEGIN PUBLIC KEY-----\n" . chunk_split(base64_encode($der), 64, "\n") . "-----END PUBLIC KEY-----\n";
        $key = openssl_pkey_get_public($pem);
        if ($key === false) throw new InvalidAssertion('its key is malformed');
        return $key;
    }

    /** Converts r || s (RFC 7518, 3.4) to the DER sequence of two integers that OpenSSL expects. */
    private static function derSignature(string $raw): string
    {
        if (strlen($raw) !== 64) throw new InvalidAssertion('its signature is malformed');
        $integers = '';
        foreach (str_split($raw, 32) as $number) {
            $number = ltrim($number, "\0");
            if ($number === '' || ord($number[0]) >= 0x80) $number = "\0$number";
            $integers .= "\x02" . chr(strlen($number)) . $number;
        }
        return "\x30" . chr(strlen($integers)) . $integers;
    }

    private static function object(string $part): array
    {
        $value = json_decode(self::decode($part), true, 8);
        if (!is_array($value)) throw new InvalidAssertion('it is malformed');
        return $value;
    }

    private static function decode(string $text): string
    {
        $bytes = preg_match('/^[A-Za-z0-9_-]*$/D', $text) ? base64_decode(strtr($text, '-_', '+/'), true) : false;
        if ($bytes === false) throw new InvalidAssertion('it is malformed');
        return $bytes;
    }
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    if ($argc !== 4) {
        fwrite(STDERR, "usage: php verify-assertion.php KEYS-URL ISSUER AUDIENCE < assertion\n");
        exit(64);
    }
    try {
        $assertion = trim(stream_get_contents(STDIN, AssertionVerifier::LONGEST + 1));
        echo json_encode((new AssertionVerifier($argv[1], $argv[2], $argv[3]))->verify($assertion)), "\n";
    } catch (InvalidAssertion $error) {
        fwrite(STDERR, "invalid assertion: {$error->getMessage()}\n");
        exit(1);
    }
}
