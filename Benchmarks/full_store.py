"""Fills a SQLite store of Cordon with many accounts and sessions whose cookies are known."""

from __future__ import annotations

import base64
import hashlib
import hmac
import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SESSIONS_PER_ACCOUNT = 3
HANDLE_LABEL = b"cordon session handle v1\0"


@dataclass(frozen=True)
class FullStore:
    """A filled store. Session `n` belongs to account `n // SESSIONS_PER_ACCOUNT`."""

    folder: Path
    accounts: int
    secret: str

    @property
    def sessions(self) -> int:
        return self.accounts * SESSIONS_PER_ACCOUNT

    def cookies(self, numbers: Iterator[int] | range) -> Iterator[str]:
        """Returns the cookies of sessions, as `name=value`: see Sources/Sessions/SealedCookie/SessionCookie.swift."""
        named, key = _derive(self.secret, "key identifier", 4), _derive(self.secret, "session cookie", 32)
        for number in numbers:
            signed = b"\1" + named + _identifier(number)
            value = signed + hmac.digest(key, signed, "sha256")
            yield "__Host-cordon=" + base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    @classmethod
    def fill(cls, folder: Path, accounts: int, secret: str) -> FullStore:
        """Fills `cordon.db` in the folder, which must have one account and must not be open elsewhere.

        The accounts are copies of that one with other subjects and e-mail addresses. So are the encrypted refresh
        tokens, which Cordon could not decrypt for another account: these accounts cannot be revalidated.
        """
        made = cls(folder, accounts, secret)
        database = sqlite3.connect(folder / "cordon.db", isolation_level=None)
        database.execute("PRAGMA synchronous = OFF")
        # Writes to the file itself, without a write-ahead log. The gateway enables it again.
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("BEGIN")
        indices = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN "
            "('accounts', 'refresh_tokens', 'sessions')").fetchall()
        for name, _ in indices:
            database.execute(f"DROP INDEX {name}")
        name, claims, *times = database.execute(
            "SELECT name, claims, latest_authorization, last_verified, last_asked, last_answer, claim_number FROM accounts"
        ).fetchone()
        client, *token = database.execute("SELECT client_id, sealed, key, version FROM refresh_tokens").fetchone()
        began, ends, seen, agent = database.execute(
            "SELECT began, ends, last_seen, user_agent FROM sessions").fetchone()
        email = database.execute("SELECT email FROM accounts").fetchone()[0]
        database.executemany(
            "INSERT INTO accounts (subject, name, email, claims, latest_authorization, last_verified, last_asked, last_answer, "
            "claim_number) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((_subject(number), name, f"user{number}@example.com", claims.replace(email, f"user{number}@example.com"),
                *times)
             for number in range(accounts)))
        database.executemany(
            "INSERT INTO refresh_tokens (subject, client_id, sealed, key, version) VALUES (?, ?, ?, ?, ?)",
            ((_subject(number), client, *token) for number in range(accounts)))
        # In primary-key order, so that rows are appended to the table.
        handles = sorted((_handle(number), number // SESSIONS_PER_ACCOUNT) for number in range(made.sessions))
        database.executemany(
            "INSERT INTO sessions (handle, subject, client_id, began, ends, last_seen, user_agent) VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((handle, _subject(account), client, began - account, ends, seen, agent) for handle, account in handles))
        for _, statement in indices:
            database.execute(statement)
        database.execute("COMMIT")
        database.execute("PRAGMA journal_mode = WAL")
        database.close()
        return made


def _subject(number: int) -> str:
    """Returns a subject in Apple's format. Subjects sort like their numbers."""
    return f"{number // 10_000 + 1_000:06d}.{number:032x}.{number % 10_000:04d}"


def _identifier(number: int) -> bytes:
    return hashlib.sha256(b"benchmark" + struct.pack(">q", number)).digest()[:16]


def _handle(number: int) -> bytes:
    return hashlib.sha256(HANDLE_LABEL + _identifier(number)).digest()[:16]


def _derive(secret: str, purpose: str, count: int) -> bytes:
    """HKDF-SHA256 (RFC 5869) without salt, one block."""
    extracted = hmac.digest(bytes(32), secret.encode(), "sha256")
    return hmac.digest(extracted, f"cordon v1 {purpose}".encode() + b"\1", "sha256")[:count]
