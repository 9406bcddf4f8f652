/* The modes of rogue.py in which a compiled bot behaves otherwise: at native speed, with stdio's own buffer.
 *
 *     cc -O2 -o rogue rogue.c
 *     ./rogue MODE[:N] [--at start|pass|play|mid|end] [--seed N] [--times N]
 *     ./rogue --list
 *
 * Moments and options are those of rogue.py, and while it is honest it plays the same cards.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIFE_S = 120, LONG_LIFE_S = 3600, LINE = 1 << 16 };

static char *request;       /* the line that the referee sent */
static char answer[LINE];   /* the honest answer to it, newline and all */
static long argument;       /* the number behind the mode's name, 0 if there is none */
static const char *seed;    /* of --seed, NULL without */
static bool late;           /* misbehave out of turn, behind the honest answer */
static bool given;          /* the honest answer was given */
static bool buffered;       /* answers stay in stdio's buffer */

/* -- the wire -------------------------------------------------------------------------------------------- */

/* Write it all, or leave: the referee no longer listens. */
static void write_all(const char *data, size_t length)
{
    while (length > 0) {
        ssize_t written = write(1, data, length);
        if (written < 0)
            _exit(0);
        data += written;
        length -= (size_t)written;
    }
}

/* Give the honest answer, unless it was given before. */
static void give(void)
{
    if (given)
        return;
    given = true;
    if (buffered)
        fputs(answer, stdout);
    else
        write_all(answer, strlen(answer));
}

/* Say this in place of the honest answer, or out of turn right behind it, in the same write. */
static void say(const char *data, size_t length)
{
    static char joined[2 * LINE];
    size_t before = late && !given ? strlen(answer) : 0;
    memcpy(joined, answer, before);
    memcpy(joined + before, data, length);
    given = true;
    write_all(joined, before + length);
}

/* What stands behind "field": in the request; at the top, as the referee puts nested fields last. */
static const char *field(const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *found = strstr(request, key);
    return found ? found + strlen(key) : "";
}

static long number(const char *name) { return strtol(field(name), NULL, 10); }

static bool is(const char *type) { return strncmp(field("type") + 1, type, strlen(type)) == 0; }

/* How often `word` stands in text that ends at `end`. */
static int count(const char *text, const char *word, const char *end)
{
    int found = 0;
    while ((text = strstr(text, word)) && text < end) {
        found++;
        text += strlen(word);
    }
    return found;
}

static int length_of(const char *array) { return (count(array, "\"", strchr(array, ']')) + 1) / 2; }

static int tricks_done(void) { return count(field("tricks"), "\"winner\":", request + strlen(request)); }

/* A number that looks random and is a function of the seed and the position; the same as in honest.py. */
static uint64_t mixed(void)
{
    uint64_t numbers[] = {strtoull(seed, NULL, 10), (uint64_t)number("hand"), (uint64_t)number("seat"),
                          (uint64_t)tricks_done()};
    uint64_t mix = 0;
    for (int i = 0; i < 4; i++) {
        mix = (mix ^ numbers[i]) * 6364136223846793005u + 1442695040888963407u;
        mix ^= mix >> 29;
    }
    return mix >> 16;
}

/* Work out the honest answer. */
static void decide(void)
{
    long id = number("id");
    if (is("start")) {
        const char *ready = "{\"type\":\"ready\",\"id\":%ld,\"name\":\"rogue\",\"version\":\"1\"}\n";
        snprintf(answer, sizeof answer, ready, id);
    } else if (is("pass")) {
        /* The first cards, as they stand: each is 4 bytes and a comma. */
        int cards = (int)number("count") * 5 - 1;
        snprintf(answer, sizeof answer, "{\"type\":\"pass\",\"id\":%ld,\"cards\":[%.*s]}\n", id, cards,
                 field("cards") + 1);
    } else {
        const char *legal = field("legal") + 1;
        if (seed)
            legal += mixed() % (uint64_t)length_of(legal) * 5;
        snprintf(answer, sizeof answer, "{\"type\":\"play\",\"id\":%ld,\"card\":%.4s}\n", id, legal);
    }
}

/* -- the modes ------------------------------------------------------------------------------------------- */

static void sit(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(LIFE_S);
    for (;;)
        pause();
}

static void honest(void) {}

static void silent(void)
{
    char junk[LINE];
    while (read(0, junk, sizeof junk) > 0)
        ;
    _exit(0);
}

static void never_reads(void)
{
    fcntl(0, F_SETPIPE_SZ, 4096);
    sit();
}

static void unflushed(void) { buffered = true; }

static void no_newline(void) { say(answer, strlen(answer) - 1); }

static void nul(void)
{
    size_t length = strlen(answer);
    char line[LINE];
    memcpy(line, answer, length - 1);
    memcpy(line + length - 1, "\0\n", 2);
    say(line, length + 1);
}

static void flood(const char *piece)
{
    static char chunk[LINE];
    size_t length = 0;
    for (; length + strlen(piece) <= sizeof chunk; length += strlen(piece))
        memcpy(chunk + length, piece, strlen(piece));
    for (;;)
        say(chunk, length);
}

static void flood_bytes(void) { flood("x"); }
static void flood_lines(void) { flood("thinking\n"); }
static void flood_answers(void) { flood(answer); }

static void close_stdout(void)
{
    close(1);
    silent();
}

static void exit_mid_line(void)
{
    say(answer, strlen(answer) / 2);
    _exit(1);
}

static void exit_after_answer(void)
{
    give();
    _exit(0);
}

static void segfault(void)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    *(volatile char *)0 = 1;
}

static void allocate(void)
{
    const size_t step = 16000000;
    for (long left = argument ? argument : 8000; left > 0; left -= 16) {
        char *memory = malloc(step);
        memset(memory, 'm', step); /* and if there is none, that is a segfault */
        __asm__ volatile("" : : "r"(memory) : "memory");
    }
    sit();
}

static void fork_bomb(void)
{
    if (fork() != 0)
        return;
    for (int i = 0; i < 7; i++)
        if (fork() == 0)
            setsid();
    sit();
}

static void burn_cpu(void)
{
    if (fork() != 0)
        return;
    alarm(LIFE_S / 4);
    for (;;)
        __asm__ volatile("");
}

enum way { SAYS, DOES };

static const struct mode {
    const char *name;
    enum way way;
    void (*misbehave)(void);
    const char *text;
} MODES[] = {
    {"honest", DOES, honest, "Does nothing wrong."},
    {"silent", DOES, silent, "Reads on, and never answers again."},
    {"never-reads", DOES, never_reads, "Shrinks its stdin to one page, and neither reads nor answers again."},
    {"unflushed", DOES, unflushed, "Prints its answers and never flushes: they stay in stdio's buffer."},
    {"no-newline", SAYS, no_newline, "Forgets the newline, and waits."},
    {"nul", SAYS, nul, "Writes the NUL that ends a string before its newline."},
    {"flood-bytes", SAYS, flood_bytes, "Writes as fast as it can, for ever, and never a newline."},
    {"flood-lines", SAYS, flood_lines, "Writes short lines as fast as it can, for ever."},
    {"flood-answers", SAYS, flood_answers, "Repeats its answer as fast as it can, for ever."},
    {"close-stdout", DOES, close_stdout, "Closes stdout, and reads on."},
    {"exit-mid-line", SAYS, exit_mid_line, "Exits in the middle of its answer."},
    {"exit-after-answer", DOES, exit_after_answer, "Answers and exits at once."},
    {"segfault", DOES, segfault, "Writes to address 0."},
    {"allocate", DOES, allocate, "Takes memory without end, N MB (8,000) at most, and then sits on it."},
    {"fork-bomb", DOES, fork_bomb, "Plays honestly while a tree of 128 sleeping processes grows."},
    {"burn-cpu", DOES, burn_cpu, "Plays honestly while a child burns a processor."},
};

enum { MODE_COUNT = sizeof MODES / sizeof *MODES };

/* -- the table ------------------------------------------------------------------------------------------- */

static const char *const MOMENTS[] = {"start", "pass", "play", "mid", "end", NULL};

static bool has_come(const char *moment)
{
    if (strcmp(moment, "mid") && strcmp(moment, "end"))
        return is(moment);
    if (!is("play") || number("hand") != 1)
        return false;
    return !strcmp(moment, "mid") ? tricks_done() >= 5 : length_of(field("cards")) == 1;
}

static void play(const struct mode *mode, const char *at, long times)
{
    size_t size = 0;
    bool armed = false;
    long done = 0;
    late = !strcmp(at, "end");
    while (getline(&request, &size, stdin) > 0) {
        if (!*field("id"))
            continue;
        given = false;
        decide();
        armed = armed || has_come(at);
        if (armed && (done < times || times == 0)) {
            done++;
            if (mode->way == DOES && late)
                give();
            mode->misbehave();
            if (mode->way == SAYS)
                continue;
        }
        give();
    }
}

int main(int words, char **word)
{
    if (words == 2 && !strcmp(word[1], "--list")) {
        for (int i = 0; i < MODE_COUNT; i++)
            printf("%-24s%s\n", MODES[i].name, MODES[i].text);
        return 0;
    }
    const struct mode *mode = NULL;
    const char *at = "play";
    long times = 1;
    for (int i = 0; words > 1 && i < MODE_COUNT; i++) {
        size_t length = strlen(MODES[i].name);
        if (!strncmp(word[1], MODES[i].name, length) && (!word[1][length] || word[1][length] == ':')) {
            mode = &MODES[i];
            argument = word[1][length] ? strtol(word[1] + length + 1, NULL, 10) : 0;
        }
    }
    for (int i = 2; i + 1 < words; i += 2) {
        if (!strcmp(word[i], "--at"))
            at = word[i + 1];
        else if (!strcmp(word[i], "--seed"))
            seed = word[i + 1];
        else if (!strcmp(word[i], "--times"))
            times = strtol(word[i + 1], NULL, 10);
        else
            mode = NULL;
    }
    bool known = false;
    for (int i = 0; MOMENTS[i]; i++)
        known = known || !strcmp(at, MOMENTS[i]);
    if (!mode || words % 2 || !known) {
        fputs("rogue MODE[:N] [--at start|pass|play|mid|end] [--seed N] [--times N]\nrogue --list\n", stderr);
        return 2;
    }
    alarm(LONG_LIFE_S); /* whoever started us may have forgotten us */
    play(mode, at, times);
    return 0;
}
