/* The checksum of ir/checked_files.py: of 32-bit words w the sums of w and of i*w, modulo 2**64.

   Rows of LANES words are summed beside each other, which compilers do in vectors. */
typedef struct {
    uint64_t plain, weighted;
} sums;

enum { LANES = 16 };

static sums sums_of(const void *data, size_t bytes) {
    const uint32_t *words = data;
    const size_t count = bytes / 4, rows = count / LANES;
    uint64_t plain[LANES] = {0}, falling[LANES] = {0}; /* the first row as often as there are rows */
    for (size_t row = 0; row < rows; row++, words += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            plain[lane] += words[lane];
            falling[lane] += plain[lane];
        }
    sums found = {0, 0};
    for (int lane = 0; lane < LANES; lane++) {
        found.plain += plain[lane];
        found.weighted += LANES * (rows * plain[lane] - falling[lane]) + lane * plain[lane];
    }
    for (size_t i = rows * LANES; i * 4 < bytes; i++, words++) {
        uint32_t word = 0;
        memcpy(&word, words, bytes - i * 4 < 4 ? bytes - i * 4 : 4);
        found.plain += word;
        found.weighted += i * (uint64_t)word;
    }
    return found;
}
