/* Runs a library that nnc made, for a process on another kind of processor: the other end of
   `emulated.py`. Arguments: the library, the prefix of its names, its weights file or "", and
   the number of threads.

   All numbers are int64s. First the status of the library's `create` goes to the standard
   output. Then a call is read from the standard input: how many inputs and outputs, and of
   each the rank, the bytes of an element, whether its shape is known, that shape, and the
   elements of an input. The answer is the status of `call` and, where that is 0, the shape and
   the elements of each output. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <windows.h>
#define RTLD_NOW 0
#define aligned_alloc(alignment, bytes) _aligned_malloc(bytes, alignment)
#define free(block) _aligned_free(block)
static void *dlopen(const char *path, int now) { return (void)now, (void *)LoadLibraryA(path); }
static void *dlsym(void *library, const char *name) {
    return (void *)GetProcAddress((HMODULE)library, name);
}
static const char *dlerror(void) {
    static char text[32] = "error of Windows: ";
    return _ultoa(GetLastError(), text + strlen(text), 10), text;
}
static void set_binary(void) {
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
}
#else
#include <dlfcn.h>
static void set_binary(void) {}
#endif

typedef struct {
    void *data;
    int64_t *shape;
} tensor;

typedef struct {
    int64_t rank, element_bytes, known;
} kind;

typedef int32_t create_function(void **context, const char *weights, int32_t threads);
typedef int32_t call_function(void *context, const tensor *inputs, tensor *outputs);
typedef void free_function(void *data);

static void fail(const char *what) {
    fputs(what, stderr);
    fputs("\n", stderr);
    exit(3);
}

static void receive(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) fail("the input ends too early");
}

static void answer(const void *from, size_t bytes) {
    if (fwrite(from, 1, bytes, stdout) != bytes) fail("the output cannot be written");
}

static void *memory(size_t bytes) {
    void *found = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!found) fail("out of memory");
    return found;
}

static size_t size(const kind *of, const tensor *one) {
    size_t bytes = (size_t)of->element_bytes;
    for (int64_t i = 0; i < of->rank; i++) bytes *= (size_t)one->shape[i];
    return bytes;
}

/* A tensor without its elements. */
static void receive_kind(kind *of, tensor *one) {
    receive(of, sizeof *of);
    const size_t bytes = (size_t)of->rank * sizeof(int64_t);
    one->shape = memory(bytes);
    one->data = NULL;
    if (of->known) receive(one->shape, bytes);
}

static void call(call_function *run, free_function *release, void *context, int64_t inputs,
    int64_t outputs) {
    const size_t count = (size_t)(inputs + outputs);
    tensor *tensors = memory(count * sizeof *tensors);
    kind *kinds = memory(count * sizeof *kinds);
    for (size_t i = 0; i < count; i++) {
        receive_kind(&kinds[i], &tensors[i]);
        if (!kinds[i].known) continue;
        const size_t bytes = size(&kinds[i], &tensors[i]);
        tensors[i].data = memory(bytes);
        if (i < (size_t)inputs) receive(tensors[i].data, bytes);
    }
    const int64_t status = run(context, tensors, tensors + inputs);
    answer(&status, sizeof status);
    for (size_t i = 0; i < count; i++) {
        if (!status && i >= (size_t)inputs) {
            answer(tensors[i].shape, (size_t)kinds[i].rank * sizeof(int64_t));
            answer(tensors[i].data, size(&kinds[i], &tensors[i]));
        }
        if (kinds[i].known) free(tensors[i].data);
        else release(tensors[i].data);
        free(tensors[i].shape);
    }
    free(kinds);
    free(tensors);
    fflush(stdout);
}

/* A function of the library. */
static void *function(void *library, const char *prefix, const char *name) {
    char text[256];
    if (strlen(prefix) + strlen(name) + 2 > sizeof text) fail("the prefix is too long");
    strcat(strcat(strcpy(text, prefix), "_"), name);
    void *found = dlsym(library, text);
    if (!found) fail(dlerror());
    return found;
}

int main(int count, char **arguments) {
    if (count != 5) fail("runner LIBRARY PREFIX WEIGHTS THREADS");
    set_binary();
    void *library = dlopen(arguments[1], RTLD_NOW), *context = NULL;
    if (!library) fail(dlerror());
    create_function *create = (create_function *)function(library, arguments[2], "create");
    call_function *run = (call_function *)function(library, arguments[2], "call");
    free_function *release = (free_function *)function(library, arguments[2], "free");
    const char *weights = *arguments[3] ? arguments[3] : NULL;
    const int64_t status = create(&context, weights, atoi(arguments[4]));
    answer(&status, sizeof status);
    fflush(stdout);
    int64_t counts[2];
    while (!status && fread(counts, sizeof counts, 1, stdin) == 1)
        call(run, release, context, counts[0], counts[1]);
    return 0;
}
