/* Runs a compiled model from C: one input of ones, the output printed.

     nnc compile model.onnx -o model.so
     cc main.c ./model.so -o main && ./main                                              */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

#define INPUT_SIZE (4 * 8)
#define OUTPUT_SIZE (4 * 16)

static int check(int32_t status) {
    if (status != NNC_OK) fprintf(stderr, "nnc: %s\n", nnc_message(status));
    return status != NNC_OK;
}

int main(void) {
    static float x[INPUT_SIZE], y[OUTPUT_SIZE];
    for (int i = 0; i < INPUT_SIZE; i++) x[i] = 1.0f;

    nnc_context *context;
    if (check(nnc_create(&context, NULL, 1))) return 1;
    nnc_tensor input = {x, NULL}, output = {y, NULL};
    int failed = check(nnc_call(context, &input, &output));
    nnc_destroy(context);

    for (int i = 0; i < OUTPUT_SIZE && !failed; i++) printf("%.6f\n", y[i]);
    return failed;
}
