
/* Threads for models that run in nnc's own process: the caller and some more. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define NNC_SPINS 20000

/* What a call of `parallel_for` leaves to do. */
typedef struct {
    void (*function)(void *work, ptrdiff_t i);
    void *work;
    ptrdiff_t count, left;
} nnc_job;

/* The pieces that a thread begins with: as many as others have, and the same in each job of the
   same length, so that it finds in its caches what it wrote before. */
typedef struct {
    uint64_t ticket; /* the number of the job, and below it of the run's next piece */
    char line[56];   /* what different threads write is on different cache lines */
} nnc_own;

typedef struct {
    nnc_pool pool;
    nnc_job jobs[2]; /* of even and of odd numbers */
    nnc_own *runs;   /* of each thread; the first is the caller's */
    pthread_mutex_t lock;
    pthread_cond_t begun;
    int sleepers, ends;
    int started; /* threads, the caller included */
    struct nnc_worker *workers;
    pthread_t *threads;
} nnc_threads;

typedef struct nnc_worker {
    nnc_threads *threads;
    int number;
} nnc_worker;

/* The next piece of a run, or -1. */
static ptrdiff_t nnc_next(nnc_threads *t, int run, uint64_t ticket) {
    const ptrdiff_t count = __atomic_load_n(&t->jobs[ticket >> 32 & 1].count, __ATOMIC_RELAXED);
    const ptrdiff_t i = (ptrdiff_t)(uint32_t)ticket;
    return i < count * (run + 1) / t->pool.threads ? i : -1;
}

/* Do the next piece of a run; 0 where none is left. A ticket that another thread has taken, or of a
   job that is over, is no longer the same. */
static int nnc_piece_of(nnc_threads *t, int run) {
    uint64_t ticket = __atomic_load_n(&t->runs[run].ticket, __ATOMIC_ACQUIRE);
    for (;;) {
        nnc_job *const job = &t->jobs[ticket >> 32 & 1];
        const ptrdiff_t i = nnc_next(t, run, ticket);
        if (i < 0) return 0;
        if (__atomic_compare_exchange_n(&t->runs[run].ticket, &ticket, ticket + 1, 0,
                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            job->function(job->work, i);
            __atomic_sub_fetch(&job->left, 1, __ATOMIC_ACQ_REL);
            return 1;
        }
    }
}

/* Do a piece of the thread's own run, or else of another's; 0 where none is left. */
static int nnc_piece(nnc_threads *t, int thread) {
    int k;
    for (k = 0; k < t->pool.threads; k++)
        if (nnc_piece_of(t, (thread + k) % t->pool.threads)) return 1;
    return 0;
}

static int nnc_has_piece(nnc_threads *t) {
    int k;
    for (k = 0; k < t->pool.threads; k++)
        if (nnc_next(t, k, __atomic_load_n(&t->runs[k].ticket, __ATOMIC_SEQ_CST)) >= 0) return 1;
    return 0;
}

static void *nnc_thread(void *given) {
    const nnc_worker *const worker = (const nnc_worker *)given;
    nnc_threads *const t = worker->threads;
    int spins = 0;
    while (!__atomic_load_n(&t->ends, __ATOMIC_ACQUIRE)) {
        if (nnc_piece(t, worker->number)) {
            spins = 0;
        } else if (++spins > NNC_SPINS) {
            pthread_mutex_lock(&t->lock);
            __atomic_add_fetch(&t->sleepers, 1, __ATOMIC_SEQ_CST);
            if (!nnc_has_piece(t) && !t->ends) pthread_cond_wait(&t->begun, &t->lock);
            __atomic_sub_fetch(&t->sleepers, 1, __ATOMIC_SEQ_CST);
            pthread_mutex_unlock(&t->lock);
            spins = 0;
        }
    }
    return NULL;
}

static void nnc_wake(nnc_threads *t) {
    if (__atomic_load_n(&t->sleepers, __ATOMIC_SEQ_CST) == 0) return;
    pthread_mutex_lock(&t->lock);
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
}

static void nnc_parallel(
    void *context, void (*function)(void *, ptrdiff_t), void *work, ptrdiff_t count) {
    nnc_threads *const t = (nnc_threads *)context;
    const uint64_t number = (__atomic_load_n(&t->runs[0].ticket, __ATOMIC_RELAXED) >> 32) + 1;
    nnc_job *const job = &t->jobs[number & 1];
    int spins = 0, k;
    job->function = function;
    job->work = work;
    __atomic_store_n(&job->count, count, __ATOMIC_RELAXED);
    __atomic_store_n(&job->left, count, __ATOMIC_RELAXED);
    for (k = t->pool.threads - 1; k >= 0; k--) {
        const uint64_t first = (uint64_t)(count * k / t->pool.threads);
        __atomic_store_n(&t->runs[k].ticket, number << 32 | first, __ATOMIC_SEQ_CST);
    }
    nnc_wake(t);
    while (nnc_piece(t, 0)) { }
    while (__atomic_load_n(&job->left, __ATOMIC_ACQUIRE) > 0) {
        if (++spins > NNC_SPINS) sched_yield();
    }
}

void nnc_pool_destroy(nnc_pool *pool);
void nnc_pool_destroy(nnc_pool *pool) {
    nnc_threads *const t = (nnc_threads *)pool;
    ptrdiff_t i;
    if (t == NULL) return;
    pthread_mutex_lock(&t->lock);
    __atomic_store_n(&t->ends, 1, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
    for (i = 1; i < t->started; i++) pthread_join(t->threads[i], NULL);
    free(t->threads);
    free(t->workers);
    free(t->runs);
    free(t);
}

nnc_pool *nnc_pool_create(int32_t threads);
nnc_pool *nnc_pool_create(int32_t threads) {
    nnc_threads *const t = threads > 1 ? (nnc_threads *)calloc(1, sizeof *t) : NULL;
    if (t == NULL) return NULL;
    t->pool.parallel_for = nnc_parallel;
    t->pool.context = t;
    t->pool.threads = threads;
    t->runs = (nnc_own *)calloc((size_t)threads, sizeof(nnc_own));
    t->workers = (nnc_worker *)calloc((size_t)threads, sizeof(nnc_worker));
    t->threads = (pthread_t *)calloc((size_t)threads, sizeof(pthread_t));
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begun, NULL);
    t->started = 1;
    while (t->runs && t->workers && t->threads && t->started < threads) {
        nnc_worker *const worker = &t->workers[t->started];
        worker->threads = t;
        worker->number = t->started;
        if (pthread_create(&t->threads[t->started], NULL, nnc_thread, worker)) break;
        t->started++;
    }
    if (t->started == threads) return &t->pool;
    nnc_pool_destroy(&t->pool);
    return NULL;
}
