/* Runs a model that is C itself, as on a chip: no library, no file, no heap.

     nnc compile model.onnx --target c-scalar -o model.c
     cc chip.c model.c -lm -o chip && ./chip                                             */
#include <stdio.h>

#include "model.h"

#define INPUT_SIZE (4 * 8)
#define OUTPUT_SIZE (4 * 16)

int main(void) {
    static float x[INPUT_SIZE], y[OUTPUT_SIZE];
    for (int i = 0; i < INPUT_SIZE; i++) x[i] = 1.0f;

    int32_t status = nnc_call(x, y);
    if (status != NNC_OK) printf("nnc: %s\n", nnc_message(status));
    for (int i = 0; i < OUTPUT_SIZE && status == NNC_OK; i++) printf("%.6f\n", y[i]);
    return status != NNC_OK;
}
