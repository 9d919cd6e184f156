"""A SQLite store with many accounts and sessions of known cookies, made from a store of Cordon."""

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
    """The content of the store. Session `n` belongs to account `n // SESSIONS_PER_ACCOUNT`."""

    folder: Path
    accounts: int
    secret: str

    @property
    def sessions(self) -> int:
        return self.accounts * SESSIONS_PER_ACCOUNT

    def cookies(self, numbers: Iterator[int] | range) -> Iterator[str]:
        """The cookies of sessions, as `name=value`: see Sources/Sessions/SealedCookie/SessionCookie.swift."""
        named, key = _derive(self.secret, "key identifier", 4), _derive(self.secret, "session cookie", 32)
        for number in numbers:
            signed = b"\1" + named + _identifier(number)
            value = signed + hmac.digest(key, signed, "sha256")
            yield "__Host-cordon=" + base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    @classmethod
    def fill(cls, folder: Path, accounts: int, secret: str) -> FullStore:
        """Fills `cordon.db` in the folder, into which somebody has signed in. Nobody may have it open.

        The accounts are copies of the one that is there, with another subject and address; their refresh tokens, too,
        which Cordon would refuse to open if it ever asked about them.
        """
        made = cls(folder, accounts, secret)
        database = sqlite3.connect(folder / "cordon.db", isolation_level=None)
        database.execute("PRAGMA synchronous = OFF")
        # Into the file itself, without a separate log; the gateway creates one again.
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
        # In the order of the table, so that it is filled from the left to the right.
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
    """In Apple's form, and in the order of the numbers."""
    return f"{number // 10_000 + 1_000:06d}.{number:032x}.{number % 10_000:04d}"


def _identifier(number: int) -> bytes:
    return hashlib.sha256(b"benchmark" + struct.pack(">q", number)).digest()[:16]


def _handle(number: int) -> bytes:
    return hashlib.sha256(HANDLE_LABEL + _identifier(number)).digest()[:16]


def _derive(secret: str, purpose: str, count: int) -> bytes:
    """HKDF-SHA256 (RFC 5869) without salt, of one block."""
    extracted = hmac.digest(bytes(32), secret.encode(), "sha256")
    return hmac.digest(extracted, f"cordon v1 {purpose}".encode() + b"\1", "sha256")[:count]
