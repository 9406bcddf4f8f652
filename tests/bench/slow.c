// Thinks for as many milliseconds as its argument says, then plays the first legal card or passes the first cards; one request at a time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
    static char line[1 << 17];
    double ms = argc > 1 ? atof(argv[1]) : 1;
    struct timespec nap = {(time_t)(ms / 1000), (long)((ms - 1000 * (long)(ms / 1000)) * 1e6)};
    setvbuf(stdout, NULL, _IOLBF, 1 << 16);
    while (fgets(line, sizeof line, stdin)) {
        char *id = strstr(line, "\"id\":"), *legal = strstr(line, "\"legal\":["), *cards = strstr(line, "\"cards\":[");
        if (!id) continue;
        int number = atoi(id + 5);
        if (strncmp(line, "{\"type\":\"start\"", 15) == 0) {
            printf("{\"type\":\"ready\",\"id\":%d,\"name\":\"slow\",\"version\":\"1\",\"tables\":64}\n", number);
            continue;
        }
        nanosleep(&nap, NULL);
        if (legal)
            printf("{\"type\":\"play\",\"id\":%d,\"card\":%.4s}\n", number, legal + 9);
        else
            printf("{\"type\":\"pass\",\"id\":%d,\"cards\":[%.14s]}\n", number, cards + 9);
    }
    return 0;
}
