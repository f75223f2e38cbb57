
/* Threads for models that run in nnc's own process: the caller and some more, in turn. */
#include <pthread.h>
#include <stdlib.h>

typedef struct {
    nnc_pool pool;
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    void (*function)(void *work, ptrdiff_t i);
    void *work;
    ptrdiff_t next, count, left;
    int ends;
    pthread_t *threads;
} nnc_threads;

static void nnc_share(nnc_threads *t) {
    while (t->next < t->count) {
        const ptrdiff_t i = t->next++;
        pthread_mutex_unlock(&t->lock);
        t->function(t->work, i);
        pthread_mutex_lock(&t->lock);
        if (--t->left == 0) pthread_cond_signal(&t->done);
    }
}

static void *nnc_thread(void *given) {
    nnc_threads *const t = (nnc_threads *)given;
    pthread_mutex_lock(&t->lock);
    while (!t->ends) {
        nnc_share(t);
        if (!t->ends) pthread_cond_wait(&t->begun, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void nnc_parallel(void *context, void (*function)(void *, ptrdiff_t), void *work, ptrdiff_t count) {
    nnc_threads *const t = (nnc_threads *)context;
    pthread_mutex_lock(&t->lock);
    t->function = function, t->work = work, t->next = 0, t->count = t->left = count;
    pthread_cond_broadcast(&t->begun);
    nnc_share(t);
    while (t->left > 0) pthread_cond_wait(&t->done, &t->lock);
    t->count = t->next = 0;
    pthread_mutex_unlock(&t->lock);
}

void nnc_pool_destroy(nnc_pool *pool) {
    nnc_threads *const t = (nnc_threads *)pool;
    ptrdiff_t i;
    if (t == NULL) return;
    pthread_mutex_lock(&t->lock);
    t->ends = 1;
    pthread_cond_broadcast(&t->begun);
    pthread_mutex_unlock(&t->lock);
    for (i = 1; i < pool->threads; i++) pthread_join(t->threads[i], NULL);
    free(t->threads);
    free(t);
}

nnc_pool *nnc_pool_create(int32_t threads) {
    nnc_threads *const t = threads > 1 ? (nnc_threads *)calloc(1, sizeof *t) : NULL;
    if (t == NULL) return NULL;
    t->pool.parallel_for = nnc_parallel;
    t->pool.context = t;
    t->pool.threads = 1;
    t->threads = (pthread_t *)calloc((size_t)threads, sizeof(pthread_t));
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->begun, NULL);
    pthread_cond_init(&t->done, NULL);
    while (t->threads != NULL && t->pool.threads < threads) {
        if (pthread_create(&t->threads[t->pool.threads], NULL, nnc_thread, t)) break;
        t->pool.threads++;
    }
    if (t->pool.threads == threads) return &t->pool;
    nnc_pool_destroy(&t->pool);
    return NULL;
}
