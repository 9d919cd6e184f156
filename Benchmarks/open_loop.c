/* An open-loop load generator for HTTP/1.1: requests are due at times that do not depend on responses.

     open_loop PORT RATE SECONDS CONNECTIONS SEED REQUESTS WINDOW >TIMES

   The times are a Poisson process of RATE requests per second with a fixed seed, so each proxy gets the same ones. A
   request that is due waits if no connection is idle; the wait is part of its latency. REQUESTS is a file of requests
   without bodies: WINDOW of them are used in turn for a second, then the next WINDOW, and so on. For each request, in
   the order in which they were due, TIMES has three 64-bit numbers: nanoseconds from the start until it was due, until
   it was sent, and until its response was complete. The exit status is 1 if a response is not 200, if a connection is
   closed, or if a response is missing ten seconds after the last request was due. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_RESPONSE = 65536, MOST_CONNECTIONS = 1024, PATIENCE_SECONDS = 10 };

struct times { uint64_t due, sent, done; };

struct connection {
  int socket;
  size_t request;   /* The request in flight. */
  size_t received;  /* Bytes of its response so far. */
  size_t whole;     /* Size of the response, 0 until its header is complete. */
  char response[LONGEST_RESPONSE + 1];
};

static struct connection connections[MOST_CONNECTIONS];
static struct connection *idle[MOST_CONNECTIONS];  /* A ring buffer: the longest idle is used next. */
static size_t idle_first, idle_count;
static struct times *requests;
static uint64_t seed;
static struct timespec begin;

static void fail(const char *reason, const char *detail) {
  fprintf(stderr, "open_loop: %s%s%.200s\n", reason, *detail ? ": " : "", detail);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)((int64_t)(time.tv_sec - begin.tv_sec) * 1000000000 + (time.tv_nsec - begin.tv_nsec));
}

/* Random number in [0, 1) (xorshift64*). */
static double chance(void) {
  seed ^= seed >> 12;
  seed ^= seed << 25;
  seed ^= seed >> 27;
  return (double)((seed * 0x2545F4914F6CDD1DULL) >> 11) / 9007199254740992.0;
}

/* Computes the times at which requests are due. Returns their number. */
static size_t schedule(double rate, double seconds) {
  size_t room = (size_t)(rate * seconds * 1.2) + 10000, count = 0;
  requests = calloc(room, sizeof *requests);
  if (!requests) fail("no memory", "");
  for (double due = 0; count < room; count++) {
    due -= log1p(-chance()) / rate;
    if (due >= seconds) return count;
    requests[count].due = (uint64_t)(due * 1e9);
  }
  fail("more requests than expected", "");
  return 0;
}

/* Reads the requests of a file, each of which ends with an empty line. Returns their number. */
static size_t read_texts(const char *path, char ***texts) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path, strerror(errno));
  char *all = NULL;
  size_t size = 0, count = 0;
  if (getdelim(&all, &size, '\0', file) < 1) fail(path, "is empty");
  fclose(file);
  for (char *at = all; (at = strstr(at, "\r\n\r\n")); at += 4) count++;
  if (!(*texts = calloc(count, sizeof **texts))) fail("no memory", "");
  char *from = all;
  for (size_t number = 0; number < count; number++) {
    char *to = strstr(from, "\r\n\r\n") + 4;
    (*texts)[number] = strndup(from, (size_t)(to - from));
    from = to;
  }
  return count;
}

static void open_connections(int count, int port, int poll) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int number = 0; number < count; number++) {
    struct connection *connection = &connections[number];
    int one = 1;
    connection->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address)) fail("connect", strerror(errno));
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(connection->socket, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, connection->socket, &event)) fail("epoll_ctl", strerror(errno));
    idle[idle_count++] = connection;
  }
}

static void send_request(size_t number, const char *text, int count) {
  struct connection *connection = idle[idle_first];
  idle_first = (idle_first + 1) % (size_t)count;
  idle_count--;
  connection->request = number;
  connection->received = connection->whole = 0;
  requests[number].sent = now();
  ssize_t length = (ssize_t)strlen(text);
  if (send(connection->socket, text, (size_t)length, MSG_NOSIGNAL) != length) fail("send", strerror(errno));
}

/* Returns the size of a response, 0 until its header is complete. */
static size_t size_of(struct connection *connection) {
  char *end = strstr(connection->response, "\r\n\r\n");
  if (!end) return 0;
  if (strncmp(connection->response, "HTTP/1.1 200 ", 13)) fail("response", connection->response);
  char *length = strcasestr(connection->response, "\r\ncontent-length:");
  if (!length || length > end) fail("response without Content-Length", connection->response);
  return (size_t)(end + 4 - connection->response) + strtoul(length + 17, NULL, 10);
}

/* Reads the available bytes. Returns whether the response is complete. */
static int receive(struct connection *connection) {
  ssize_t count = recv(connection->socket, connection->response + connection->received,
                       LONGEST_RESPONSE - connection->received, 0);
  if (count < 0 && errno == EAGAIN) return 0;
  if (count < 0) fail("recv", strerror(errno));
  if (count == 0) fail("connection closed", "");
  connection->received += (size_t)count;
  connection->response[connection->received] = '\0';
  if (!connection->whole) connection->whole = size_of(connection);
  if (connection->received == LONGEST_RESPONSE || (connection->whole && connection->received > connection->whole))
    fail("response is longer than expected", connection->response);
  return connection->received == connection->whole;
}

int main(int argc, char **argv) {
  if (argc != 8) fail("usage", "open_loop PORT RATE SECONDS CONNECTIONS SEED REQUESTS WINDOW >TIMES");
  double seconds = atof(argv[3]);
  int count = atoi(argv[4]), poll = epoll_create1(0);
  if (count < 1 || count > MOST_CONNECTIONS) fail("1 to 1024 connections", "");
  seed = strtoull(argv[5], NULL, 10) * 2 + 1;
  for (int number = 0; number < 16; number++) chance();
  char **texts;
  size_t total = schedule(atof(argv[2]), seconds), variants = read_texts(argv[6], &texts);
  size_t window = strtoul(argv[7], NULL, 10);
  if (!window || window > variants) fail(argv[6], "has too few requests");
  prctl(PR_SET_TIMERSLACK, 1);
  open_connections(count, atoi(argv[1]), poll);
  clock_gettime(CLOCK_MONOTONIC, &begin);
  size_t next = 0, done = 0;  /* `next` is the first request that is not sent yet. */
  while (done < total) {
    uint64_t time = now();
    if (time > (uint64_t)((seconds + PATIENCE_SECONDS) * 1e9)) fail("requests are not answered", "");
    while (next < total && idle_count && requests[next].due <= time) {
      size_t second = (size_t)(requests[next].due / 1000000000);
      send_request(next, texts[(second * window + next % window) % variants], count);
      next++;
    }
    uint64_t wait = 1000000000;
    if (next < total && idle_count) {
      time = now();
      wait = requests[next].due > time ? requests[next].due - time : 0;
      if (wait > 1000000000) wait = 1000000000;
    }
    struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000000), .tv_nsec = (long)(wait % 1000000000)};
    struct epoll_event events[64];
    int ready = epoll_pwait2(poll, events, 64, &timeout, NULL);
    if (ready < 0 && errno != EINTR) fail("epoll_pwait2", strerror(errno));
    for (int number = 0; number < ready; number++) {
      struct connection *connection = events[number].data.ptr;
      if (!receive(connection)) continue;
      requests[connection->request].done = now();
      idle[(idle_first + idle_count++) % (size_t)count] = connection;
      done++;
    }
  }
  if (fwrite(requests, sizeof *requests, total, stdout) != total || fflush(stdout)) fail("write", strerror(errno));
  return 0;
}
