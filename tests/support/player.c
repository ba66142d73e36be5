/* Plays a script of tests/support/player.py into its own terminal, under any argv[0].
 *
 *     exec -a claude player [-l] [-d SECONDS] [-s SPEED] [-t LOG] SCRIPT
 *
 * Small, because a benchmark runs fifty of them beside what it measures. The process takes
 * argv[0]'s base name as its kernel name too, reads its terminal as agents do, and puts it
 * into raw mode (recordings hold what came out behind the terminal's own output processing).
 *
 * SCRIPT is records, each a line, `o` followed by its bytes:
 *     o MICROSECONDS LENGTH   wait, counted from the record before, then write
 *     m NAME                  note `NAME BOOTTIME-NANOSECONDS` in the log
 *     k                       wait until a key is pressed; answers to queries are no keys
 *     e STATUS                exit
 * At its end: -l begins again, otherwise the process stays until it is ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define ESCAPE_MS 40 /* an ESC alone for this long is the key */

static struct termios before;
static FILE *notes;
static int escape; /* 0 outside, 1 behind ESC, 2 inside CSI, 3 inside a string, 4 behind ESC in it */

static void restore(void) { tcsetattr(0, TCSANOW, &before); }

static void fail(const char *what) {
    perror(what);
    exit(2);
}

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Takes input; whether a key was among it. */
static int take_input(void) {
    unsigned char buffer[4096];
    ssize_t got = read(0, buffer, sizeof buffer);
    int key = 0;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) exit(0); /* the terminal is gone */
    for (ssize_t i = 0; i < got; i++) {
        unsigned char c = buffer[i];
        if (escape == 0) { if (c == 27) escape = 1; else key = 1; }
        else if (escape == 1) {
            if (c == '[') escape = 2;
            else if (c == ']' || c == 'P' || c == '_') escape = 3;
            else { escape = 0; key = 1; } /* Alt and a key, or a function key */
        }
        else if (escape == 2) { if (c >= '@' && c <= '~') escape = 0; }
        else if (escape == 3) { if (c == 7) escape = 0; else if (c == 27) escape = 4; }
        else escape = c == '\\' ? 0 : 3;
    }
    return key;
}

/* Waits until the moment (negative: for ever) or, if told so, for a key. */
static void wait_until(double moment, int for_key) {
    for (;;) {
        double left = moment < 0 ? 3600 : moment - now(CLOCK_MONOTONIC);
        if (left <= 0) return;
        int ms = escape == 1 ? ESCAPE_MS : left > 3600 ? 3600000 : (int)(left * 1000);
        if (ms == 0) { usleep((useconds_t)(left * 1e6)); continue; }
        struct pollfd fd = {0, POLLIN, 0};
        int ready = poll(&fd, 1, ms);
        if (ready > 0 && take_input() && for_key) return;
        if (ready == 0 && escape == 1) { escape = 0; if (for_key) return; }
    }
}

static void put(const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(1, bytes, length);
        if (done < 0) {
            if (errno == EINTR || errno == EAGAIN) continue;
            exit(0);
        }
        bytes += done;
        length -= (size_t)done;
    }
}

static void play(const char *script, const char *end, double speed) {
    double clock = now(CLOCK_MONOTONIC);
    while (script < end) {
        const char *line = script, *newline = memchr(script, '\n', (size_t)(end - script));
        if (newline == NULL) return;
        script = newline + 1;
        if (*line == 'o') {
            char *rest;
            double wait = (double)strtoll(line + 2, &rest, 10) / 1e6 / speed;
            size_t length = (size_t)strtoll(rest, NULL, 10);
            clock += wait;
            wait_until(clock, 0);
            put(script, length);
            script += length;
        } else if (*line == 'm' && notes != NULL) {
            fprintf(notes, "%.*s %.0f\n", (int)(newline - line - 2), line + 2, now(CLOCK_BOOTTIME) * 1e9);
            fflush(notes);
        } else if (*line == 'k') {
            wait_until(-1, 1);
            clock = now(CLOCK_MONOTONIC);
        } else if (*line == 'e') {
            exit(atoi(line + 2));
        }
    }
}

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    double speed = 1, delay = 0;
    int option, again = 0;
    prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
    while ((option = getopt(argc, argv, "ld:s:t:")) != -1) {
        if (option == 'l') again = 1;
        else if (option == 'd') delay = atof(optarg);
        else if (option == 's') speed = atof(optarg);
        else if (option != 't' || (notes = fopen(optarg, "a")) == NULL) fail("player");
    }
    int file = open(argv[optind] ? argv[optind] : "", O_RDONLY);
    struct stat size;
    if (file < 0 || fstat(file, &size) != 0 || size.st_size == 0) fail("player: script");
    char *script = mmap(NULL, (size_t)size.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (script == MAP_FAILED) fail("player: script");
    if (tcgetattr(0, &before) == 0) {
        struct termios raw = before;
        cfmakeraw(&raw);
        tcsetattr(0, TCSANOW, &raw);
        atexit(restore);
    }
    if (delay > 0) wait_until(now(CLOCK_MONOTONIC) + delay, 0);
    do play(script, script + size.st_size, speed); while (again);
    for (;;) wait_until(-1, 0);
}
