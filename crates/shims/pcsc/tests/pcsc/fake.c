/* A PC/SC library for the test: everything succeeds, and SCardTransmit answers with its command's
   INS and 9000. */
#include <string.h>

typedef long LONG;
typedef unsigned long DWORD;

LONG SCardEstablishContext(DWORD scope, const void *a, const void *b, LONG *context) {
    (void)a, (void)b;
    *context = 4711 + (LONG)scope;
    return 0;
}
LONG SCardIsValidContext(LONG context) { return context == 4713 ? 0 : 0x80100003L; }
LONG SCardListReaders(LONG context, const char *groups, char *readers, DWORD *length) {
    (void)context, (void)groups;
    if (readers && *length < 6) return 0x80100008L;
    if (readers) memcpy(readers, "fake\0", 6);
    *length = 6;
    return 0;
}
LONG SCardConnect(LONG c, const char *reader, DWORD share, DWORD protocols, LONG *handle, DWORD *active) {
    (void)c, (void)share;
    if (strcmp(reader, "fake")) return 0x80100009L;
    *handle = 42;
    *active = protocols & 1;
    return 0;
}
LONG SCardTransmit(LONG h, const void *sh, const unsigned char *send, DWORD n, void *rh, unsigned char *receive, DWORD *length) {
    (void)sh, (void)rh;
    if (h != 42 || n < 4) return 0x80100004L;
    receive[0] = send[1], receive[1] = 0x90, receive[2] = 0x00;
    *length = 3;
    return 0;
}
#define ANSWER(name, ...) LONG name(__VA_ARGS__) { return 0; }
ANSWER(SCardReleaseContext, LONG c)
ANSWER(SCardListReaderGroups, LONG c, char *g, DWORD *n)
ANSWER(SCardFreeMemory, LONG c, const void *m)
ANSWER(SCardGetStatusChange, LONG c, DWORD t, void *s, DWORD n)
ANSWER(SCardCancel, LONG c)
ANSWER(SCardReconnect, LONG h, DWORD s, DWORD p, DWORD i, DWORD *a)
ANSWER(SCardDisconnect, LONG h, DWORD d)
ANSWER(SCardStatus, LONG h, char *r, DWORD *n, DWORD *s, DWORD *p, unsigned char *a, DWORD *l)
ANSWER(SCardBeginTransaction, LONG h)
ANSWER(SCardEndTransaction, LONG h, DWORD d)
ANSWER(SCardControl, LONG h, DWORD c, const void *s, DWORD n, void *r, DWORD m, DWORD *l)
ANSWER(SCardGetAttrib, LONG h, DWORD a, unsigned char *v, DWORD *n)
ANSWER(SCardSetAttrib, LONG h, DWORD a, const unsigned char *v, DWORD n)
