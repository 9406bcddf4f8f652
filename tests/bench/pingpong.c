// A bare pipe round trip: what this machine can do at best, and the measure of everything else.
//
//   cc -O2 -o pingpong pingpong.c && ./pingpong ROUNDS
//
// The parent writes a line of 400 bytes to its child, which answers with 24; both block.  Prints the median in microseconds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void child(void) {
    char line[4096], answer[24];
    memset(answer, 'a', sizeof answer);
    answer[sizeof answer - 1] = '\n';
    for (;;) {
        ssize_t got = read(0, line, sizeof line);
        if (got <= 0) _exit(0);
        if (line[got - 1] == '\n' && write(1, answer, sizeof answer) < 0) _exit(1);
    }
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 20000, warm = rounds / 10, down[2], up[2];
    if (pipe(down) || pipe(up)) return 1;
    if (fork() == 0) {
        dup2(down[0], 0);
        dup2(up[1], 1);
        close(down[0]), close(down[1]), close(up[0]), close(up[1]);
        child();
    }
    close(down[0]), close(up[1]);
    char line[400], answer[4096];
    memset(line, 'q', sizeof line);
    line[sizeof line - 1] = '\n';
    double *us = malloc(rounds * sizeof *us);
    for (int i = -warm; i < rounds; i++) {
        double start = now_us();
        if (write(down[1], line, sizeof line) != sizeof line) return 2;
        if (read(up[0], answer, sizeof answer) <= 0) return 3;
        if (i >= 0) us[i] = now_us() - start;
    }
    close(down[1]);
    wait(NULL);
    qsort(us, rounds, sizeof *us, by_value);
    printf("%.3f\n", us[rounds / 2]);
    return 0;
}
