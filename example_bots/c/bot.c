/* A Hearts bot that ducks: it tries to lose every trick, and throws its worst cards while it does.
 *
 * It reads one JSON object per line on stdin and answers each request with one line on stdout.
 * Each request carries all that the seat may know, so the bot remembers nothing between lines.
 * However many lines have arrived, it answers them with one write: that makes it fast.
 *
 * Build it with `cc -O2 -o bot bot.c`, run it with `./bot`.
 *
 * There is no JSON parser here: the referee promises compact ASCII, `type` first, and plain values,
 * `cards` and `legal` before anything nested. So the first `"key":` in a line is the one we mean.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CARDS = 52 };

/* A card is a pointer to its two characters in the line, rank then suit; quotes stand around them. */
static const int RANKS[256] = {['2'] = 2, ['3'] = 3, ['4'] = 4, ['5'] = 5, ['6'] = 6, ['7'] = 7, ['8'] = 8,
                               ['9'] = 9, ['T'] = 10, ['J'] = 11, ['Q'] = 12, ['K'] = 13, ['A'] = 14};

static int rank(const char *card) { return RANKS[(unsigned char)card[0]]; }
static char suit(const char *card) { return card[1]; }

/* How gladly a card is thrown away: the queen of spades, then hearts from the top, then high cards. */
static int danger(const char *card) {
    if (strncmp(card, "QS", 2) == 0) return 200;
    return suit(card) == 'H' ? 100 + rank(card) : rank(card);
}

/* How gladly a card is passed: the queen of spades, the spades above her, then high cards. */
static int pass_danger(const char *card) {
    if (strncmp(card, "QS", 2) == 0) return 200;
    return suit(card) == 'S' && rank(card) > RANKS['Q'] ? 100 + rank(card) : rank(card);
}

/* What stands after `key`, which is spelled with its quotes and colon; "" if the line has no such key. */
static const char *find(const char *line, const char *key) {
    const char *at = strstr(line, key);
    return at != NULL ? at + strlen(key) : "";
}

/* Finds the list after `key`, such as ["2C","QS"], and returns how many cards it holds. */
static int find_cards(const char *line, const char *key, const char *cards[MAX_CARDS]) {
    const char *at = find(line, key);
    int n = 0;
    while (n < MAX_CARDS && (*at == '[' || *at == ',') && at[1] == '"') {
        cards[n++] = at + 2;
        at += strlen("[\"2C\"");
    }
    return n;
}

static char answers[1 << 16];
static size_t answers_len;

static void flush_answers(void) {
    for (size_t done = 0; done < answers_len;) {
        ssize_t n = write(STDOUT_FILENO, answers + done, answers_len - done);
        if (n >= 0) done += (size_t)n;
        else if (errno != EINTR) exit(1);
    }
    answers_len = 0;
}

static void put(const char *text, size_t len) {
    if (len > sizeof answers - answers_len) flush_answers();
    memcpy(answers + answers_len, text, len);
    answers_len += len;
}

static void put_text(const char *text) { put(text, strlen(text)); }
static void put_card(const char *card) { put(card - 1, strlen("\"2C\"")); }

static void put_pass(const char *line) {
    const char *cards[MAX_CARDS];
    int n = find_cards(line, "\"cards\":", cards);
    int count = atoi(find(line, "\"count\":"));
    for (int given = 0; given < count && n > 0; given++) {
        int worst = 0;
        for (int i = 1; i < n; i++)
            if (pass_danger(cards[i]) > pass_danger(cards[worst])) worst = i;
        if (given > 0) put_text(",");
        put_card(cards[worst]);
        n--;
        memmove(cards + worst, cards + worst + 1, (size_t)(n - worst) * sizeof cards[0]);
    }
}

static const char *choose_play(const char *line) {
    const char *legal[MAX_CARDS], *trick[MAX_CARDS];
    int legal_len = find_cards(line, "\"legal\":", legal);
    int trick_len = find_cards(line, "\"trick\":", trick);
    const char *least = legal[0], *best = trick[0], *loser = NULL;

    if (trick_len == 0) { /* we lead */
        for (int i = 1; i < legal_len; i++)
            if (rank(legal[i]) < rank(least)) least = legal[i];
        return least;
    }
    for (int i = 1; i < trick_len; i++)
        if (suit(trick[i]) == suit(best) && rank(trick[i]) > rank(best)) best = trick[i];
    for (int i = 0; i < legal_len; i++) {
        int loses = suit(legal[i]) != suit(best) || rank(legal[i]) < rank(best);
        if (loses && (loser == NULL || danger(legal[i]) > danger(loser))) loser = legal[i];
        if (danger(legal[i]) < danger(least)) least = legal[i];
    }
    return loser != NULL ? loser : least;
}

/* Notices, and types we do not know, get no answer. */
static void answer(const char *line) {
    const char *type = find(line, "{\"type\":"), *id = find(line, "\"id\":");
    size_t id_len = strspn(id, "0123456789");
    if (strncmp(type, "\"play\"", 6) == 0) {
        put_text("{\"type\":\"play\",\"id\":");
        put(id, id_len);
        put_text(",\"card\":");
        put_card(choose_play(line));
        put_text("}\n");
    } else if (strncmp(type, "\"pass\"", 6) == 0) {
        put_text("{\"type\":\"pass\",\"id\":");
        put(id, id_len);
        put_text(",\"cards\":[");
        put_pass(line);
        put_text("]}\n");
    } else if (strncmp(type, "\"start\"", 7) == 0) {
        put_text("{\"type\":\"ready\",\"id\":");
        put(id, id_len);
        put_text(",\"name\":\"duck-c\",\"version\":\"1\",\"tables\":64}\n");
    }
}

int main(void) {
    size_t size = 1 << 16, have = 0;
    char *input = malloc(size);
    while (input != NULL) {
        ssize_t n = read(STDIN_FILENO, input + have, size - have);
        if (n == 0) return 0; /* stdin was closed: we leave */
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return 1;
        have += (size_t)n;

        char *line = input, *end;
        while ((end = memchr(line, '\n', have - (size_t)(line - input))) != NULL) {
            *end = '\0';
            answer(line);
            line = end + 1;
        }
        flush_answers();

        have -= (size_t)(line - input); /* the beginning of a line whose rest is still to come */
        memmove(input, line, have);
        if (have == size) input = realloc(input, size *= 2);
    }
    return 1;
}
