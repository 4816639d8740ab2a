/*
 * A slow disk (LD_PRELOAD): every sync takes SLOW_SYNC_MICROSECONDS longer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static struct timespec delay;
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void) {
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char *text = getenv("SLOW_SYNC_MICROSECONDS");
  long microseconds = text ? atol(text) : 0;
  delay.tv_sec = microseconds / 1000000;
  delay.tv_nsec = microseconds % 1000000 * 1000;
}

int fsync(int fd) {
  nanosleep(&delay, NULL);
  return real_fsync(fd);
}

int fdatasync(int fd) {
  nanosleep(&delay, NULL);
  return real_fdatasync(fd);
}
