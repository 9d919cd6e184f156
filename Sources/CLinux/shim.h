#pragma once
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* The C library declares these for GNU programs only, which Swift's imports are not. */
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);
struct dl_phdr_info {
  ElfW(Addr) dlpi_addr;
  const char *dlpi_name;
  const ElfW(Phdr) *dlpi_phdr;
  ElfW(Half) dlpi_phnum;
};
extern int dl_iterate_phdr(int (*each)(struct dl_phdr_info *object, size_t size, void *data), void *data);
