// Launches a softmax and prints the sum of each row, which is 1.
#include "device.h"
#include "softmax_kernels.h"

#include <vector>

int main()
{
    const int rows = 4, n = 1000;
    std::vector<float> x(rows * n);
    for (int i = 0; i < rows * n; i++) {
        x[i] = float(i % 17) / 4.0f;
    }
    device_open();
    softmax_kernel kernel;
    TTC(softmax_load(&kernel, error));
    softmax_args args;
    args.x = device_copy(x.data(), x.size() * sizeof(float));
    args.y = device_copy(x.data(), x.size() * sizeof(float));
    args.rows = rows;
    args.n = n;
    TTC(softmax_launch(&kernel, nullptr, &args, error));
    CUDA(cuStreamSynchronize(nullptr));
    CUDA(cuMemcpyDtoH_v2(x.data(), args.y, x.size() * sizeof(float)));
    int wrong = 0;
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            sum += x[row * n + i];
        }
        wrong += !(sum > 0.9999 && sum < 1.0001);
        printf("row %d sums to %.6f\n", row, sum);
    }
    TTC(softmax_unload(&kernel, error));
    CUDA(cuMemFree_v2(args.x));
    CUDA(cuMemFree_v2(args.y));
    return wrong;
}
