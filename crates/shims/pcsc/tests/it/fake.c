/* A PC/SC library for the test. The first functions do a little of what PC/SC's do; of the others
   the test wants to see that their arguments came through and their results get back. Pointers are
   LONGs here, which travel alike. */
#include <string.h>

typedef long LONG;
typedef unsigned long DWORD;

/* Arguments of the last call to one of the others. */
LONG seen[7];
char names[] = "fake\0";

LONG SCardEstablishContext(DWORD scope, const void *a, const void *b, LONG *context) {
    (void)a, (void)b;
    *context = 4711 + (LONG)scope;
    return 0;
}
LONG SCardListReaders(LONG context, const char *groups, char *readers, DWORD *length) {
    (void)context, (void)groups;
    if (readers && *length < sizeof names) return 0x80100008L;
    if (readers) memcpy(readers, names, sizeof names);
    *length = sizeof names;
    return 0;
}
LONG SCardConnect(LONG c, const char *reader, DWORD share, DWORD protocols, LONG *handle, DWORD *active) {
    (void)c;
    if (!strcmp(reader, "how")) {
        *handle = 42;
        *active = share;
        return 0;
    }
    if (strcmp(reader, "fake")) return 0x80100009L;
    *handle = 42;
    *active = protocols & 1;
    return 0;
}
LONG SCardTransmit(LONG h, const void *sh, const unsigned char *send, DWORD n, void *rh, unsigned char *receive, DWORD *length) {
    (void)sh, (void)rh;
    if (h != 42 || n < 4 || n > 99) return 0x80100004L;
    receive[0] = send[1], receive[1] = 0x90, receive[2] = 0x00;
    *length = 3;
    return 0;
}

static LONG see(LONG result, LONG a, LONG b, LONG c, LONG d, LONG e, LONG f, LONG g) {
    const LONG arguments[] = {a, b, c, d, e, f, g};
    memcpy(seen, arguments, sizeof seen);
    return result;
}
#define SEE1(name, result) LONG name(LONG a) { return see(result, a, 0, 0, 0, 0, 0, 0); }
#define SEE2(name, result) LONG name(LONG a, LONG b) { return see(result, a, b, 0, 0, 0, 0, 0); }
#define SEE3(name, result) LONG name(LONG a, LONG b, LONG c) { return see(result, a, b, c, 0, 0, 0, 0); }
#define SEE4(name, result) LONG name(LONG a, LONG b, LONG c, LONG d) { return see(result, a, b, c, d, 0, 0, 0); }
#define SEE5(name, result) LONG name(LONG a, LONG b, LONG c, LONG d, LONG e) { return see(result, a, b, c, d, e, 0, 0); }
#define SEE7(name, result) LONG name(LONG a, LONG b, LONG c, LONG d, LONG e, LONG f, LONG g) { return see(result, a, b, c, d, e, f, g); }
SEE1(SCardReleaseContext, 1001)
SEE4(SCardGetStatusChange, 1004)
SEE1(SCardCancel, 1005)
SEE5(SCardReconnect, 1006)
SEE2(SCardDisconnect, 1007)
SEE7(SCardStatus, -1008)
SEE1(SCardBeginTransaction, 1009)
SEE2(SCardEndTransaction, 1010)
SEE7(SCardControl, 1011)
