// Runs a compiled model from C++ in two threads, each with a context of its own.
//
//   nnc compile model.onnx -o model.a
//   c++ main.cpp model.a -lpthread -lm -o main && ./main
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "model.h"

namespace {

class Model {
  public:
    Model() {
        nnc_context *made = nullptr;
        check(nnc_create(&made, nullptr, 1));
        context.reset(made);
    }

    std::array<float, 64> operator()(std::array<float, 32> &x) {
        std::array<float, 64> y{};
        nnc_tensor input{x.data(), nullptr}, output{y.data(), nullptr};
        check(nnc_call(context.get(), &input, &output));
        return y;
    }

  private:
    static void check(int32_t status) {
        if (status != NNC_OK) throw std::runtime_error(nnc_message(status));
    }

    struct Destroy {
        void operator()(nnc_context *context) const { nnc_destroy(context); }
    };
    std::unique_ptr<nnc_context, Destroy> context;
};

} // namespace

int main() {
    std::array<std::array<float, 64>, 2> results{};
    std::array<std::thread, 2> threads;
    for (int i = 0; i < 2; i++) {
        threads[i] = std::thread([&results, i] {
            std::array<float, 32> x;
            x.fill(static_cast<float>(i + 1));
            results[i] = Model()(x);
        });
    }
    for (auto &thread : threads) thread.join();
    for (const auto &result : results)
        for (float value : result) std::printf("%.6f\n", value);
}
