
/* Buffers of unknown size: what a call makes is freed at its end, whatever that is. */
#if !defined(NNC_MALLOC)
#include <stdlib.h>
#define NNC_MALLOC(bytes) malloc(bytes)
#define NNC_FREE(address) free(address)
#endif
#define NNC_MOST ((size_t)PTRDIFF_MAX / 2)
typedef struct nnc_block {
    struct nnc_block *next, *before;
    void *start;
} nnc_block;
typedef struct {
    nnc_block *first;
} nnc_heap;
NNC_INLINE size_t nnc_product(size_t a, ptrdiff_t b) {
    return b <= 0 ? 0 : a > NNC_MOST / (size_t)b ? NNC_MOST : a * (size_t)b;
}
NNC_INLINE void *nnc_take(nnc_heap *heap, size_t bytes) {
    char *start = bytes >= NNC_MOST ? NULL : (char *)NNC_MALLOC(bytes + 128);
    nnc_block *block;
    if (start == NULL) return NULL;
    block = (nnc_block *)(void *)(start + (128 - (size_t)((uintptr_t)start & 63)) - sizeof(nnc_block));
    block->start = start;
    block->before = NULL;
    block->next = heap->first;
    if (heap->first != NULL) heap->first->before = block;
    heap->first = block;
    return block + 1;
}
NNC_INLINE void nnc_give(nnc_heap *heap, void *address) {
    nnc_block *block = (nnc_block *)address - 1;
    if (block->before != NULL) block->before->next = block->next;
    else heap->first = block->next;
    if (block->next != NULL) block->next->before = block->before;
    NNC_FREE(block->start);
}
NNC_INLINE void nnc_end(nnc_heap *heap) {
    while (heap->first != NULL) nnc_give(heap, heap->first + 1);
}
