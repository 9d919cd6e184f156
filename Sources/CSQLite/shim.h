#pragma once
#include <sqlite3.h>
#include <stddef.h>

/* Swift sees neither macros that calculate or cast, nor functions with a variable number of arguments. */

static const int cordon_SQLITE_CONSTRAINT_FOREIGNKEY = SQLITE_CONSTRAINT_FOREIGNKEY;

/* Binds a copy of the text. Its length counts, not a NUL; text without bytes may be NULL, and is not SQL's NULL. */
static inline int cordon_sqlite3_bind_text(sqlite3_stmt *statement, int index, const void *text, size_t length) {
  return sqlite3_bind_text64(
    statement, index, text != NULL ? (const char *)text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* Binds a copy of the bytes, of which there may be none. */
static inline int cordon_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, size_t length) {
  return sqlite3_bind_blob64(statement, index, bytes != NULL ? bytes : "", length, SQLITE_TRANSIENT);
}

/* Makes a misspelt name in double quotes an error; otherwise it is taken for a string. */
static inline int cordon_sqlite3_refuse_double_quoted_strings(sqlite3 *database) {
  int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
  if (code != SQLITE_OK) return code;
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)NULL);
}

/* Takes memory for pages when there are pages, not for twenty with each connection. Before the first connection only. */
static inline int cordon_sqlite3_allocate_pages_one_by_one(void) {
  return sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}
