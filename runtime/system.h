/* What context.c needs of an operating system: memory, files, a lock. */
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <malloc.h>
#include <windows.h>

typedef SRWLOCK lock_type;
#define UNLOCKED SRWLOCK_INIT
#define lock(one) AcquireSRWLockExclusive(one)
#define unlock(one) ReleaseSRWLockExclusive(one)

/* Memory aligned to 64 bytes, as the code's own; NULL where there is none. */
static void *allocate(size_t bytes) { return _aligned_malloc(bytes, 64); }
static void release(void *block) { _aligned_free(block); }

/* Fresh pages that are zero, for as long as they are used; NULL where there are none. */
static void *new_pages(size_t bytes) {
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
static void release_pages(void *pages, size_t bytes) {
    (void)bytes;
    VirtualFree(pages, 0, MEM_RELEASE);
}

#define TICKS 10000000u /* in a second */

/* A handle of a file, or what says why there is none. */
static int32_t open_file(const char *path, DWORD rights, HANDLE *opened) {
    const int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    WCHAR *wide = length ? allocate((size_t)length * sizeof *wide) : NULL;
    if (!wide) return length ? NO_MEMORY : NO_WEIGHTS;
    MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, length);
    *opened = CreateFileW(wide, rights, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
        OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    release(wide);
    return *opened == INVALID_HANDLE_VALUE ? NO_WEIGHTS : OK;
}

/* A file of so many bytes, mapped to be read, and the fraction of the second in the time when it was
   last written; else `*mapped` stays and the result says why. */
static int32_t map_file(const char *path, size_t bytes, void **mapped, uint32_t *ticks) {
    HANDLE file;
    const int32_t status = open_file(path, GENERIC_READ, &file);
    if (status) return status;
    LARGE_INTEGER size;
    FILETIME time = {0, 0};
    GetFileTime(file, NULL, NULL, &time);
    *ticks = (uint32_t)(((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) % TICKS);
    const int fits = GetFileSizeEx(file, &size) && (uint64_t)size.QuadPart == bytes;
    HANDLE mapping = fits ? CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL) : NULL;
    CloseHandle(file);
    if (!fits) return OTHER_WEIGHTS;
    void *found = mapping ? MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes) : NULL;
    if (mapping) CloseHandle(mapping); /* the view keeps it */
    if (!found) return NO_MEMORY;
    *mapped = found;
    return OK;
}
static void unmap_file(void *mapped, size_t bytes) {
    (void)bytes;
    UnmapViewOfFile(mapped);
}

/* Changes that fraction, if the system lets us. */
static void set_ticks(const char *path, uint32_t ticks) {
    HANDLE file;
    FILETIME time;
    if (open_file(path, FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES, &file)) return;
    if (GetFileTime(file, NULL, NULL, &time)) {
        uint64_t value = (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
        value += ticks - value % TICKS;
        time.dwLowDateTime = (DWORD)value, time.dwHighDateTime = (DWORD)(value >> 32);
        SetFileTime(file, NULL, NULL, &time);
    }
    CloseHandle(file);
}

#else
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef pthread_mutex_t lock_type;
#define UNLOCKED PTHREAD_MUTEX_INITIALIZER
#define lock(one) pthread_mutex_lock(one)
#define unlock(one) pthread_mutex_unlock(one)

static void *allocate(size_t bytes) {
    void *block = NULL;
    return posix_memalign(&block, 64, bytes) ? NULL : block;
}
static void release(void *block) { free(block); }

static void *new_pages(size_t bytes) {
    const int rights = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void *made = mmap(NULL, bytes, rights, kind, -1, 0);
    if (made == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(made, bytes, MADV_HUGEPAGE); /* fewer page faults, now and in each run */
#endif
    return made;
}
static void release_pages(void *pages, size_t bytes) { munmap(pages, bytes); }

#define TICKS 10000000u
#ifdef __APPLE__
#define MODIFIED st_mtimespec
#else
#define MODIFIED st_mtim
#endif

static int32_t map_file(const char *path, size_t bytes, void **mapped, uint32_t *ticks) {
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NO_WEIGHTS;
    if (fstat(file, &found) != 0 || (size_t)found.st_size != bytes) {
        close(file);
        return OTHER_WEIGHTS;
    }
    void *made = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (made == MAP_FAILED) return NO_MEMORY;
    *mapped = made;
    *ticks = (uint32_t)(found.MODIFIED.tv_nsec / 100);
    return OK;
}
static void unmap_file(void *mapped, size_t bytes) { munmap(mapped, bytes); }

static void set_ticks(const char *path, uint32_t ticks) {
    struct stat found;
    if (stat(path, &found) != 0) return;
    const struct timespec times[] = {{0, UTIME_OMIT}, {found.MODIFIED.tv_sec, (long)ticks * 100}};
    (void)utimensat(AT_FDCWD, path, times, 0);
}
#endif

/* Lets the system take pages of stored weights away, of which it has the file. */
static void forget(const char *weights, int64_t from, int64_t to) {
#ifdef __linux__
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = ((uintptr_t)weights + (uintptr_t)from + page - 1) / page * page;
    const uintptr_t last = ((uintptr_t)weights + (uintptr_t)to) / page * page;
    if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
#else
    (void)weights, (void)from, (void)to;
#endif
}
