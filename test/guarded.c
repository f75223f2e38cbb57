/* Memory in which every access outside of a block ends the process.

   A block lies in pages of its own between two that nobody may touch, in turns at their start and at
   their end, as far as its alignment allows; what is left of its pages has a pattern that has to be
   there still when the block is freed. Freed pages are given back, so that a late access ends the
   process, too.

       | header | nobody's | block ..        pattern | nobody's |
       | header | nobody's | pattern        .. block | nobody's |  */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PATTERN = 0xA5 };

typedef struct header {
    struct header *next; /* of those that a heap has */
    size_t pages, bytes;
    unsigned char *data;
    void *heap;
} header;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static header *blocks_of_heaps;
static unsigned count;

static unsigned char *first_page(const header *made) { return (unsigned char *)made + 2 * PAGE; }

static header *header_of(void *data) {
    return (header *)(((uintptr_t)data & ~(uintptr_t)(PAGE - 1)) - 2 * PAGE);
}

/* What lies around the block has a value, or has it still. */
static int around(const header *made, int write) {
    unsigned char *at = first_page(made), *end = at + made->pages * PAGE;
    while (at < end) {
        if (at == made->data) at += made->bytes;
        if (at >= end) break;
        if (write) *at = PATTERN;
        else if (*at != PATTERN) return 0;
        at++;
    }
    return 1;
}

void *guarded_alloc(size_t alignment, size_t bytes) {
    if (bytes >> 47) return NULL;
    const size_t pages = bytes ? (bytes + PAGE - 1) / PAGE : 1;
    unsigned char *whole = mmap(NULL, (pages + 3) * PAGE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) return NULL;
    header *made = (header *)whole;
    *made = (header){NULL, pages, bytes, first_page(made), NULL};
    if (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 2 == 0 && bytes)
        made->data += (pages * PAGE - bytes) & ~(alignment - 1);
    around(made, 1);
    mprotect(whole + PAGE, PAGE, PROT_NONE);
    mprotect(whole + (pages + 2) * PAGE, PAGE, PROT_NONE);
    return made->data;
}

/* From here on the block may only be read. */
void guarded_freeze(void *data) {
    header *made = header_of(data);
    mprotect(first_page(made), made->pages * PAGE, PROT_READ);
}

void guarded_free(void *data) {
    if (!data) return;
    header *made = header_of(data);
    if (made->data != data || !around(made, 0)) {
        fprintf(stderr, "a block of %zu bytes was written around, or is none\n", made->bytes);
        abort();
    }
    munmap(made, (made->pages + 3) * PAGE);
}

/* Blocks that end with the call of their heap, unless they are given back before. */
void *guarded_take(void *heap, size_t bytes) {
    void *data = guarded_alloc(64, bytes);
    if (!data) return NULL;
    header *made = header_of(data);
    made->heap = heap;
    pthread_mutex_lock(&lock);
    made->next = blocks_of_heaps;
    blocks_of_heaps = made;
    pthread_mutex_unlock(&lock);
    return data;
}

static void leave(void *heap, void *data) {
    pthread_mutex_lock(&lock);
    for (header **place = &blocks_of_heaps; *place;) {
        header *found = *place;
        if (found->heap != heap || (data && found->data != data)) {
            place = &found->next;
            continue;
        }
        *place = found->next;
        guarded_free(found->data);
    }
    pthread_mutex_unlock(&lock);
}

void guarded_give(void *heap, void *data) { leave(heap, data); }
void guarded_end(void *heap) { leave(heap, NULL); }
