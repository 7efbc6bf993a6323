/* The least that signing through a PKCS#11 module can cost: C_SignInit and C_Sign in a loop, a session a thread,
 * nothing else; or calling at all, by C_GetSessionInfo. Arguments: the module, the token's label, the file of its PIN, of
 * the key its label, and "sign" or "info".
 * Reads "threads milliseconds", one line a measurement; answers with calls per second, of a signature's two as one.
 * The list of functions is that of PKCS#11 2.40 §3.6. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long word;
struct list {
    unsigned char version[2];
    void *call[68];
};
struct mechanism {
    word kind;
    void *parameter;
    word length;
};
struct attribute {
    word kind;
    void *value;
    word length;
};

enum { INITIALIZE = 0, SLOT_LIST = 4, TOKEN_INFO = 6, OPEN_SESSION = 12, SESSION_INFO = 15, LOGIN = 18, GET_ATTRIBUTES = 24,
       FIND_INIT = 26, FIND = 27, FIND_FINAL = 28, SIGN_INIT = 42, SIGN = 43 };
enum { RSA_PKCS = 1, ECDSA = 0x1041, CLASS = 0, LABEL = 3, KEY_TYPE = 0x100, PRIVATE_KEY = 3, RSA = 0 };
enum { THREADS = 16, LEAD_IN = 4 };

typedef word init_call(word, struct mechanism *, word);
typedef word sign_call(word, void *, word, void *, word *);

static struct list *list;
static struct mechanism mechanism;
static word key, length;
static unsigned char data[64];
static pthread_barrier_t ready;
static double limit;
static int signs;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void need(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "the C loop: %s failed\n", what);
        exit(2);
    }
}

struct worker {
    pthread_t thread;
    word session;
    double rate;
};

static inline void operate(init_call *init, sign_call *sign, word session, unsigned char *signature, word room)
{
    need(init(session, &mechanism, key) == 0, "C_SignInit");
    need(sign(session, data, length, signature, &room) == 0, "C_Sign");
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    init_call *init = (init_call *)list->call[SIGN_INIT];
    sign_call *sign = (sign_call *)list->call[SIGN];
    word (*info)(word, void *) = (word(*)(word, void *))list->call[SESSION_INFO];
    unsigned char signature[1024];
    word count = 0;
    double start, end;
    /* A few that do not count, as keymark has them: threads that are new are still where they were started. */
    pthread_barrier_wait(&ready);
    for (int place = 0; place < LEAD_IN; place++)
        operate(init, sign, worker->session, signature, sizeof signature);
    pthread_barrier_wait(&ready);
    start = now();
    do {
        if (signs) {
            operate(init, sign, worker->session, signature, sizeof signature);
            count++;
        } else {
            for (int call = 0; call < 1000; call++)
                need(info(worker->session, signature) == 0, "C_GetSessionInfo");
            count += 1000;
        }
        end = now();
    } while (end - start < limit);
    worker->rate = count / (end - start);
    return NULL;
}

static word token_slot(const char *label)
{
    word slots[64], count = 64;
    char padded[33], info[512];
    snprintf(padded, sizeof padded, "%-32s", label);
    need(((word(*)(unsigned char, word *, word *))list->call[SLOT_LIST])(1, slots, &count) == 0, "C_GetSlotList");
    for (word place = 0; place < count; place++)
        if (((word(*)(word, void *))list->call[TOKEN_INFO])(slots[place], info) == 0 && !memcmp(info, padded, 32))
            return slots[place];
    need(0, "looking for the token");
    return 0;
}

static word open_session(word slot)
{
    word session;
    word (*open)(word, word, void *, void *, word *) = list->call[OPEN_SESSION];
    need(open(slot, 4, NULL, NULL, &session) == 0, "C_OpenSession");
    return session;
}

static void find_key(word session, char *label)
{
    word class = PRIVATE_KEY, count = 0, kind = 0;
    struct attribute wanted[] = { { CLASS, &class, sizeof class }, { LABEL, label, strlen(label) } };
    struct attribute type = { KEY_TYPE, &kind, sizeof kind };
    need(((word(*)(word, void *, word))list->call[FIND_INIT])(session, wanted, 2) == 0, "C_FindObjectsInit");
    need(((word(*)(word, word *, word, word *))list->call[FIND])(session, &key, 1, &count) == 0 && count == 1,
         "looking for the key");
    ((word(*)(word))list->call[FIND_FINAL])(session);
    need(((word(*)(word, word, void *, word))list->call[GET_ATTRIBUTES])(session, key, &type, 1) == 0,
         "C_GetAttributeValue");
    /* A DigestInfo of SHA-256, or a digest. */
    mechanism.kind = kind == RSA ? RSA_PKCS : ECDSA;
    length = kind == RSA ? 51 : 32;
    memset(data, 0x5a, sizeof data);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    word arguments[6] = { 0, 0, 0, 0, 2 /* CKF_OS_LOCKING_OK */, 0 };
    word (*get)(struct list **) = NULL;
    char pin[64] = "";
    unsigned threads, milliseconds;
    need(argc == 6, "reading the arguments");
    signs = !strcmp(argv[5], "sign");
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library)
        get = (word(*)(struct list **))dlsym(library, "C_GetFunctionList");
    need(get && get(&list) == 0, "loading the module");
    FILE *file = fopen(argv[3], "r");
    need(file && fgets(pin, sizeof pin, file), "reading the PIN");
    pin[strcspn(pin, "\n")] = 0;
    need(((word(*)(void *))list->call[INITIALIZE])(arguments) == 0, "C_Initialize");
    word slot = token_slot(argv[2]);
    for (int place = 0; place < THREADS; place++)
        workers[place].session = open_session(slot);
    need(((word(*)(word, word, char *, word))list->call[LOGIN])(workers[0].session, 1, pin, strlen(pin)) == 0,
         "C_Login");
    find_key(workers[0].session, argv[4]);
    while (scanf("%u %u", &threads, &milliseconds) == 2) {
        double rate = 0;
        need(threads > 0 && threads <= THREADS, "counting the threads");
        limit = milliseconds * 1e-3;
        pthread_barrier_init(&ready, NULL, threads);
        /* In threads even where it is one: without any, the C library leaves out what its locks cost, in its heap
         * and in the module, which no server has the good of. */
        for (unsigned place = 0; place < threads; place++)
            need(!pthread_create(&workers[place].thread, NULL, work, &workers[place]), "starting a thread");
        for (unsigned place = 0; place < threads; place++)
            pthread_join(workers[place].thread, NULL);
        pthread_barrier_destroy(&ready);
        for (unsigned place = 0; place < threads; place++)
            rate += workers[place].rate;
        printf("%.3f\n", rate);
        fflush(stdout);
    }
    return 0;
}
