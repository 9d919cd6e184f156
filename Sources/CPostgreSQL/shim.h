#pragma once

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
// Where Debian has it.
#include <postgresql/libpq-fe.h>
#endif

#include <dlfcn.h>
#include <stddef.h>

// The functions of libpq that are called, each with the type that its header declares. They are looked up when they are
// wanted, not linked: libpq brings LDAP, Kerberos and GnuTLS along, which a gateway with another store has no use for.
#define CORDON_LIBPQ(F) \
  F(PQclear) F(PQcmdStatus) F(PQcmdTuples) F(PQconnectdbParams) F(PQconninfoFree) F(PQconninfoParse) F(PQconsumeInput) \
  F(PQenterPipelineMode) F(PQerrorMessage) F(PQexitPipelineMode) F(PQfinish) F(PQflush) F(PQfreemem) F(PQgetResult) \
  F(PQgetisnull) F(PQgetlength) F(PQgetvalue) F(PQisBusy) F(PQnotifies) F(PQntuples) F(PQpipelineSync) \
  F(PQresultErrorField) F(PQresultStatus) F(PQsendQueryParams) F(PQsetNoticeReceiver) \
  F(PQsetnonblocking) F(PQsocket) F(PQstatus)

#define CORDON_LIBPQ_FIELD(name) __typeof__(&name) name;
struct cordon_libpq {
  CORDON_LIBPQ(CORDON_LIBPQ_FIELD)
};
#undef CORDON_LIBPQ_FIELD

// Fills the table: NULL, or why it cannot be.
static inline const char *cordon_libpq_load(struct cordon_libpq *table) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return dlerror();
#define CORDON_LIBPQ_FIND(name) \
  if ((table->name = (__typeof__(table->name))dlsym(library, #name)) == NULL) return "it lacks " #name;
  CORDON_LIBPQ(CORDON_LIBPQ_FIND)
#undef CORDON_LIBPQ_FIND
  return NULL;
}
