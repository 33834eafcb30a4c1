// Notes which programs of the workspace start, and which of them return from `main`: a program that exits before has not run its tests.
//
// Loaded into every process of a runner that knows exit codes only. GHOSTBENCH_RETURNS is the file of the notes: lines of `+` or `-`, the
// process, and the program. GHOSTBENCH_WORKSPACE is the folder of the programs that count.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_function program;
static char path[4096];

static int counts(void) {
  const char *workspace = getenv("GHOSTBENCH_WORKSPACE");
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (workspace == NULL || length <= 0) {
    return 0;
  }
  path[length] = '\0';
  size_t folder = strlen(workspace);
  return strncmp(path, workspace, folder) == 0 && path[folder] == '/';
}

static void note(char sign) {
  const char *notes = getenv("GHOSTBENCH_RETURNS");
  char line[sizeof path + 32];
  int length = snprintf(line, sizeof line, "%c\t%d\t%s\n", sign, (int)getpid(), path);
  int file = notes == NULL ? -1 : open(notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) {
    // A note that is lost looks like an early exit, which is never believed to be a success.
    if (write(file, line, (size_t)length) < 0) {
    }
    close(file);
  }
}

static int noted(int count, char **arguments, char **environment) {
  note('+');
  int code = program(count, arguments, environment);
  note('-');
  return code;
}

int __libc_start_main(main_function own, int count, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*at_end)(void), void *stack) {
  start_function start = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");
  program = own;
  return start(counts() ? noted : own, count, arguments, init, fini, at_end, stack);
}
