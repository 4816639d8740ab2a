/*
 * Stands between a process and its disk (LD_PRELOAD). For the ledger's and views' files in TORTURE_ROOT it
 * - records every change and every sync, in order, in the file TORTURE_TRACE, and
 * - fails the operation that the shared memory in the file TORTURE_CONTROL selects.
 * Wraps the functions that SQLite's unix VFS and libuv call for these files.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEDGER = 1, VIEWS = 2, ACKNOWLEDGED = 4 };
enum { WRITE = 1, SYNC = 2, TRUNCATE = 4 };

/* Kept in step with disk.ts. */
struct control {
  int32_t countdown; /* fails the matching operation that brings this to 0; 0 fails none */
  int32_t error;     /* its errno */
  int32_t sticky;    /* whether later matching operations fail too, until this is 0 again */
  int32_t torn;      /* whether the first failing write writes half of its bytes first */
  int32_t kinds;
  int32_t files;
  int32_t failing;
  int32_t seen;      /* matching operations so far */
  int32_t failed;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct control *control;
static int trace = -1;
static char root[4096];
static size_t root_length;

static int (*real_open64)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void start(void) {
  real_open64 = dlsym(RTLD_NEXT, "open64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate64 = dlsym(RTLD_NEXT, "ftruncate64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  const char *directory = getenv("TORTURE_ROOT");
  if (!directory || !realpath(directory, root)) return;
  root_length = strlen(root);
  const char *trace_file = getenv("TORTURE_TRACE");
  if (trace_file) trace = real_open64(trace_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *control_file = getenv("TORTURE_CONTROL");
  int fd = control_file ? real_open64(control_file, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *memory = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) control = memory;
  close(fd);
}

/* The name of a path below the root; NULL for a file that is not watched. "" is the root itself. */
static const char *name_of(const char *path) {
  if (root_length == 0 || strncmp(path, root, root_length) != 0) return NULL;
  if (path[root_length] == '\0') return "";
  if (path[root_length] != '/') return NULL;
  const char *name = path + root_length + 1;
  if (strchr(name, '/')) return NULL;
  if (!strncmp(name, "ledger.", 7) || !strncmp(name, "views.sqlite", 12) || !strcmp(name, "acknowledged"))
    return name;
  return NULL;
}

static const char *name_of_fd(int fd, char *path, size_t size) {
  if (root_length == 0) return NULL;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return NULL;
  path[length] = '\0';
  return name_of(path);
}

static int file_bit(const char *name) {
  return *name == 'l' ? LEDGER : *name == 'v' ? VIEWS : *name == 'a' ? ACKNOWLEDGED : 0;
}

static int is_shared_memory(const char *name) {
  size_t length = strlen(name);
  return length > 4 && !strcmp(name + length - 4, "-shm");
}

/* Records an operation as one line and the bytes that it names. The caller holds the mutex. */
static void record(const void *bytes, size_t count, const char *format, ...) {
  if (trace < 0) return;
  int saved = errno;
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (real_write(trace, line, length) != length || (count > 0 && real_write(trace, bytes, count) != (ssize_t)count))
    abort();
  errno = saved;
}

/* Whether this operation fails; sets `torn` if it writes half first. The caller holds the mutex. */
static int fails(const char *name, int kind, int *torn) {
  *torn = 0;
  if (!control || !(control->kinds & kind) || !(control->files & file_bit(name))) return 0;
  control->seen += 1;
  if (!control->failing) {
    if (control->countdown == 0) return 0;
    control->countdown -= 1;
    if (control->countdown > 0) return 0;
    control->failing = control->sticky;
    *torn = control->torn && kind == WRITE;
  }
  control->failed += 1;
  errno = control->error;
  return 1;
}

static ssize_t do_write(int fd, const void *bytes, size_t count, off64_t offset, int has_offset) {
  char path[4096];
  const char *name = name_of_fd(fd, path, sizeof path);
  if (!name || *name == '\0') return has_offset ? real_pwrite64(fd, bytes, count, offset) : real_write(fd, bytes, count);
  pthread_mutex_lock(&mutex);
  int torn;
  ssize_t written = -1;
  if (!fails(name, WRITE, &torn) || (torn && (count /= 2) > 0)) {
    if (!has_offset) {
      struct stat status;
      int is_appending = fcntl(fd, F_GETFL) & O_APPEND;
      offset = is_appending && fstat(fd, &status) == 0 ? status.st_size : lseek64(fd, 0, SEEK_CUR);
    }
    written = has_offset ? real_pwrite64(fd, bytes, count, offset) : real_write(fd, bytes, count);
    if (written > 0 && !is_shared_memory(name))
      record(bytes, written, "write %s %lld %zd\n", name, (long long)offset, written);
  }
  pthread_mutex_unlock(&mutex);
  return written;
}

ssize_t write(int fd, const void *bytes, size_t count) { return do_write(fd, bytes, count, 0, 0); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  return do_write(fd, bytes, count, offset, 1);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return do_write(fd, bytes, count, offset, 1); }

static int do_sync(int fd, int (*real)(int)) {
  char path[4096];
  const char *name = name_of_fd(fd, path, sizeof path);
  if (!name) return real(fd);
  pthread_mutex_lock(&mutex);
  int torn;
  int result = fails(name, SYNC, &torn) ? -1 : real(fd);
  if (result == 0) record(NULL, 0, "sync %s\n", *name ? name : ".");
  pthread_mutex_unlock(&mutex);
  return result;
}

int fsync(int fd) { return do_sync(fd, real_fsync); }
int fdatasync(int fd) { return do_sync(fd, real_fdatasync); }

int ftruncate64(int fd, off64_t size) {
  char path[4096];
  const char *name = name_of_fd(fd, path, sizeof path);
  if (!name) return real_ftruncate64(fd, size);
  pthread_mutex_lock(&mutex);
  int torn;
  int result = fails(name, TRUNCATE, &torn) ? -1 : real_ftruncate64(fd, size);
  if (result == 0 && !is_shared_memory(name)) record(NULL, 0, "truncate %s %lld\n", name, (long long)size);
  pthread_mutex_unlock(&mutex);
  return result;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const char *name = flags & O_CREAT ? name_of(path) : NULL;
  if (!name || is_shared_memory(name)) return real_open64(path, flags, mode);
  pthread_mutex_lock(&mutex);
  int is_new = access(path, F_OK) != 0;
  int fd = real_open64(path, flags, mode);
  if (fd >= 0 && is_new) record(NULL, 0, "create %s\n", name);
  pthread_mutex_unlock(&mutex);
  return fd;
}
int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open64(path, flags, mode);
}

int unlink(const char *path) {
  const char *name = name_of(path);
  if (!name || is_shared_memory(name)) return real_unlink(path);
  pthread_mutex_lock(&mutex);
  int result = real_unlink(path);
  if (result == 0) record(NULL, 0, "unlink %s\n", name);
  pthread_mutex_unlock(&mutex);
  return result;
}
