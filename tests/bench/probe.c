// Says when it was first spoken to: writes the monotonic clock in microseconds into the file that its argument names.
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char line[65536], text[64];
    ssize_t got = read(0, line, sizeof line);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int out = open(argv[argc - 1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int length = snprintf(text, sizeof text, "%.1f\n", t.tv_sec * 1e6 + t.tv_nsec / 1e3);
    return got > 0 && write(out, text, length) == length ? 0 : 1;
}
