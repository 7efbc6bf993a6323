/* A client of a PKCS#11 module: PROCESSES × THREADS callers, each of which does COUNT operations and prints a line
 * for each, of when it began, when it was done, and when the call was made that works (CLOCK_MONOTONIC, in nanoseconds).
 *
 * client MODULE PIN ID PROCESSES THREADS COUNT HOW [STAGGER_MS]
 * HOW: sign, parts (C_SignUpdate and C_SignFinal), length (its length first), decrypt, inherit (the parent has
 * initialized the module before it forks), short (too little room for the signature), again (a refused signature is made
 * again, with a line for each refusal: 'refused CODE').
 * CLIENT_SESSIONS: sessions that all threads of a process share, each used by one at a time; else one for each. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long ULONG;
typedef unsigned char BYTE;
typedef struct { ULONG type; void *value; ULONG length; } ATTRIBUTE;
typedef struct { ULONG mechanism; void *parameter; ULONG length; } MECHANISM;
/* CK_FUNCTION_LIST of 2.40, as far as it is used here. */
typedef struct { BYTE version[2]; ULONG (*of[68])(); } LIST;
/* Places in the list. */
enum { INITIALIZE = 0, FINALIZE = 1, SLOTS = 4, OPEN = 12, LOGIN = 18, FIND_INIT = 26, FIND = 27, FIND_FINAL = 28,
       DECRYPT_INIT = 33, DECRYPT = 34, ENCRYPT_INIT = 29, ENCRYPT = 30, SIGN_INIT = 42, SIGN = 43, SIGN_UPDATE = 44,
       SIGN_FINAL = 45 };
enum { RSA_PKCS = 1, SHA256_RSA_PKCS = 0x40 };

static LIST *list;
static ULONG slot;
static const char *module, *pin, *how;
static BYTE id;
static int count, stagger;

enum { MOST_SESSIONS = 64 };
static ULONG shared[MOST_SESSIONS];
static int idle;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
/* All have logged in and found the key before the first of them signs: these calls also take turns on the sessions. */
static pthread_barrier_t ready;

static ULONG borrowed(void) {
  pthread_mutex_lock(&mutex);
  while (!idle) pthread_cond_wait(&given_back, &mutex);
  ULONG session = shared[--idle];
  pthread_mutex_unlock(&mutex);
  return session;
}

static void give_back(ULONG session) {
  pthread_mutex_lock(&mutex);
  shared[idle++] = session;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&given_back);
}

static ULONG now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000ul * t.tv_sec + t.tv_nsec;
}

static void checked(const char *call, ULONG code) {
  if (code) {
    fprintf(stderr, "%s: %#lx\n", call, code);
    _exit(3);
  }
}

/* SoftHSM2 writes to its token at each login, and another process does not find a token that is being written. With
 * CLIENT_ALL_AT_ONCE that is left to the module. */
static int locked(void) {
  if (getenv("CLIENT_ALL_AT_ONCE")) return -1;
  int file = open(module, O_RDONLY);
  if (file < 0 || flock(file, LOCK_EX)) _exit(5);
  return file;
}

static void initialize(void) {
  int lock = locked();
  ULONG arguments[6] = {0, 0, 0, 0, 2 /* CKF_OS_LOCKING_OK */, 0};
  ULONG code = list->of[INITIALIZE](arguments);
  /* A child of one that has initialized it: SoftHSM2 says so, others start again. */
  if (code != 0x191) checked("C_Initialize", code);
  ULONG slots[16], n = 16;
  checked("C_GetSlotList", list->of[SLOTS](1, slots, &n));
  slot = slots[0];
  close(lock);
}

static ULONG key(ULONG session, ULONG class) {
  ULONG found = 0, n = 0;
  ATTRIBUTE wanted[] = {{0, &class, sizeof class}, {0x102, &id, 1}};
  checked("C_FindObjectsInit", list->of[FIND_INIT](session, wanted, 2ul));
  checked("C_FindObjects", list->of[FIND](session, &found, 1ul, &n));
  checked("C_FindObjectsFinal", list->of[FIND_FINAL](session));
  if (n != 1) checked("no such key", 1);
  return found;
}

static void *caller(void *number) {
  ULONG session, length, private;
  usleep(1000 * stagger * (int)(long)number);
  int shares = getenv("CLIENT_SESSIONS") != NULL;
  if (shares) session = borrowed();
  else checked("C_OpenSession", list->of[OPEN](slot, 4ul, NULL, NULL, &session));
  int lock = locked();
  ULONG login = list->of[LOGIN](session, 1ul, pin, strlen(pin));
  if (login != 0x100 /* already */) checked("C_Login", login);
  close(lock);
  private = key(session, 3);
  if (shares) {
    give_back(session);
    pthread_barrier_wait(&ready);
  }
  BYTE data[32] = "to be signed", out[1024], sealed[1024];
  MECHANISM plain = {RSA_PKCS, NULL, 0}, hashing = {SHA256_RSA_PKCS, NULL, 0};
  ULONG sealed_length = sizeof sealed;
  if (!strcmp(how, "decrypt")) {
    checked("C_EncryptInit", list->of[ENCRYPT_INIT](session, &plain, key(session, 2)));
    checked("C_Encrypt", list->of[ENCRYPT](session, data, 32ul, sealed, &sealed_length));
  }
  for (int i = 0; i < count; i++) {
    ULONG begin = now(), asked = 0;
    if (shares) session = borrowed();
    length = sizeof out;
    if (!strcmp(how, "parts")) {
      checked("C_SignInit", list->of[SIGN_INIT](session, &hashing, private));
      checked("C_SignUpdate", list->of[SIGN_UPDATE](session, data, 32ul));
      asked = now();
      checked("C_SignFinal", list->of[SIGN_FINAL](session, out, &length));
    } else if (!strcmp(how, "decrypt")) {
      checked("C_DecryptInit", list->of[DECRYPT_INIT](session, &plain, private));
      asked = now();
      checked("C_Decrypt", list->of[DECRYPT](session, sealed, sealed_length, out, &length));
      if (length != 32 || memcmp(out, data, 32)) checked("another plaintext", 1);
    } else {
      checked("C_SignInit", list->of[SIGN_INIT](session, &plain, private));
      if (!strcmp(how, "length")) checked("its length", list->of[SIGN](session, data, 32ul, NULL, &length));
      if (!strcmp(how, "short")) {
        ULONG little = 1;
        if (list->of[SIGN](session, data, 32ul, out, &little) != 0x150) checked("too little room", 1);
      }
      asked = now();
      ULONG code = list->of[SIGN](session, data, 32ul, out, &length);
      if (code && !strcmp(how, "again")) {
        char refused[32];
        int n = snprintf(refused, sizeof refused, "refused %#lx\n", code);
        if (write(1, refused, n) != n) _exit(4);
        if (shares) give_back(session);
        usleep(1000);
        i--;
        continue;
      }
      checked("C_Sign", code);
    }
    if (shares) give_back(session);
    char line[96];
    int n = snprintf(line, sizeof line, "%d %ld %lu %lu %lu\n", getpid(), (long)number, begin, now(), asked);
    if (write(1, line, n) != n) _exit(4);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 8) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  module = argv[1], pin = argv[2], id = (BYTE)atoi(argv[3]), how = argv[7];
  int processes = atoi(argv[4]), threads = atoi(argv[5]);
  count = atoi(argv[6]), stagger = argc > 8 ? atoi(argv[8]) : 0;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  ULONG (*get)() = dlsym(library, "C_GetFunctionList");
  checked("C_GetFunctionList", get(&list));
  if (!strcmp(how, "inherit")) {
    initialize();
    pthread_t thread;
    pthread_create(&thread, NULL, caller, NULL);
    pthread_join(thread, NULL);
  }
  for (int p = 0; p < processes; p++) {
    if (fork()) continue;
    if (threads == 1) usleep(1000 * stagger * p);
    initialize();
    const char *sessions = getenv("CLIENT_SESSIONS");
    while (sessions && idle < atoi(sessions) && idle < MOST_SESSIONS) {
      checked("C_OpenSession", list->of[OPEN](slot, 4ul, NULL, NULL, &shared[idle]));
      idle++;
    }
    if (sessions) pthread_barrier_init(&ready, NULL, (unsigned)threads);
    pthread_t all[64];
    for (long t = 0; t < threads; t++) pthread_create(&all[t], NULL, caller, (void *)t);
    for (int t = 0; t < threads; t++) pthread_join(all[t], NULL);
    list->of[FINALIZE](NULL);
    _exit(0);
  }
  int failed = 0, status;
  while (wait(&status) > 0) failed |= status;
  return failed != 0;
}
