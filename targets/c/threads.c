
/* Threads for models that run in nnc's own process: the caller and some more. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define NNC_SPINS 20000

/* What calls of `parallel_for` leave to do, of which the next one's ticket tells the number. */
typedef struct {
    void (*function)(void *work, ptrdiff_t i);
    void *work;
    ptrdiff_t count, left;
} nnc_job;

typedef struct {
    nnc_pool pool;
    uint64_t ticket; /* the number of the job, and below it of its next piece */
    nnc_job jobs[2];
    pthread_mutex_t lock;
    pthread_cond_t begun;
    int sleepers, ends;
    pthread_t *threads;
} nnc_threads;

/* Run a piece of the current job; 0 where none is left. A ticket that another thread has taken, or
   of a job that is over, is no longer the same. */
static int nnc_piece(nnc_threads *t) {
    uint64_t ticket = __atomic_load_n(&t->ticket, __ATOMIC_ACQUIRE);
    for (;;) {
        nnc_job *const job = &t->jobs[ticket >> 32 & 1];
        const ptrdiff_t i = (ptrdiff_t)(uint32_t)ticket;
        if (i >= __atomic_load_n(&job->count, __ATOMIC_RELAXED)) return 0;
        if (__atomic_compare_exchange_n(&t->ticket, &ticket, ticket + 1, 0, __ATOMIC_ACQ_REL,
                __ATOMIC_ACQUIRE)) {
            job->function(job->work, i);
            __atomic_sub_fetch(&job->left, 1, __ATOMIC_ACQ_REL);
            return 1;
        }
    }
}

static int nnc_has_piece(nnc_threads *t) {
    const uint64_t ticket = __atomic_load_n(&t->ticket, __ATOMIC_SEQ_CST);
    nnc_job *const job = &t->jobs[ticket >> 32 & 1];
    return (ptrdiff_t)(uint32_t)ticket < __atomic_load_n(&job->count, __ATOMIC_RELAXED);
}

static void *nnc_thread(void *given) {
    nnc_threads *const t = (nnc_threads *)given;
    int spins = 0;
    while (!__atomic_load_n(&t->ends, __ATOMIC_ACQUIRE)) {
        if (nnc_piece(t)) {
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
    const uint64_t number = (__atomic_load_n(&t->ticket, __ATOMIC_RELAXED) >> 32) + 1;
    nnc_job *const job = &t->jobs[number & 1];
    int spins = 0;
    job->function = function;
    job->work = work;
    __atomic_store_n(&job->count, count, __ATOMIC_RELAXED);
    __atomic_store_n(&job->left, count, __ATOMIC_RELAXED);
    __atomic_store_n(&t->ticket, number << 32, __ATOMIC_SEQ_CST);
    nnc_wake(t);
    while (nnc_piece(t)) { }
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
    for (i = 1; i < pool->threads; i++) pthread_join(t->threads[i], NULL);
    free(t->threads);
    free(t);
}

nnc_pool *nnc_pool_create(int32_t threads);
nnc_pool *nnc_pool_create(int32_t threads) {
    nnc_threads *const t = threads > 1 ? (nnc_threads *)calloc(1, sizeof *t) : NULL;
    if (t == NULL) return NULL;
    t->pool.parallel_for = nnc_parallel;
    t->pool.context = t;
    t->pool.threads = 1;
    t->threads = (pthread_t *)calloc((size_t)threads, sizeof(pthread_t));
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begun, NULL);
    while (t->threads != NULL && t->pool.threads < threads) {
        if (pthread_create(&t->threads[t->pool.threads], NULL, nnc_thread, t)) break;
        t->pool.threads++;
    }
    if (t->pool.threads == threads) return &t->pool;
    nnc_pool_destroy(&t->pool);
    return NULL;
}
