/* Prints "listening" and waits forever; its memory is the lower bound of a container's. */
#include <unistd.h>

int main(void) {
  static const char line[] = "\"listening\"\n";
  if (write(1, line, sizeof line - 1) < 0) return 1;
  for (;;) pause();
}
