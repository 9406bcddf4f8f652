// Thinks for as many milliseconds of processor time as its argument says (or sleeps, with a second one), then does what is first on offer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double spent_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
    static char line[1 << 17];
    double ms = argc > 1 ? atof(argv[1]) : 1;
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    while (fgets(line, sizeof line, stdin)) {
        char *id = strstr(line, "\"id\":"), *legal = strstr(line, "\"legal\":["), *cards = strstr(line, "\"cards\":[");
        if (!id) continue;
        int number = atoi(id + 5);
        if (strncmp(line, "{\"type\":\"start\"", 15) == 0) {
            printf("{\"type\":\"ready\",\"id\":%d,\"name\":\"think\",\"version\":\"1\"}\n", number);
            continue;
        }
        if (argc > 2) nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000}, NULL);
        for (double end = spent_ms() + ms; argc <= 2 && spent_ms() < end;) {
        }
        if (legal)
            printf("{\"type\":\"play\",\"id\":%d,\"card\":%.4s}\n", number, legal + 9);
        else
            printf("{\"type\":\"pass\",\"id\":%d,\"cards\":[%.14s]}\n", number, cards + 9);
    }
    return 0;
}
