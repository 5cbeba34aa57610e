/* Launches the kernels of examples/c on the driver of libcuda.c, which shows what their cubins declare. */
#include "add.h"
#include "add_in_clusters.h"
#include "matmul.h"
#include "softmax.h"

static ttc_error error;

static void show(const char *what, ttc_code code)
{
    printf("%s: %d %s\n", what, (int)code, code == TTC_OK ? "ok" : error.text);
}

int main(void)
{
    add_kernel add;
    add_args sum;
    add_in_clusters_kernel clusters;
    add_in_clusters_args clusters_args;
    softmax_kernel softmax;
    softmax_args rows;
    matmul_kernel matmul;
    matmul_args product;
    setvbuf(stdout, NULL, _IONBF, 0);
    memset(&sum, 0, sizeof sum);
    sum.x = 0x10000;
    sum.y = 0x20000;
    sum.out = 0x30000;
    sum.n = 100003;
    show("load add", add_load(&add, &error));
    show("add", add_launch(&add, NULL, &sum, &error));
    sum.y += 4;
    show("add, unaligned", add_launch(&add, NULL, &sum, &error));
    show("unload", add_unload(&add, &error));
    clusters_args.x = 0x10000;
    clusters_args.y = 0x20000;
    clusters_args.out = 0x30000;
    clusters_args.n = 4097;
    show("load add_in_clusters", add_in_clusters_load(&clusters, &error));
    show("add_in_clusters", add_in_clusters_launch(&clusters, NULL, &clusters_args, &error));
    show("unload", add_in_clusters_unload(&clusters, &error));
    rows.x = 0x10000;
    rows.y = 0x20000;
    rows.rows = 37;
    rows.n = 781;
    show("load softmax", softmax_load(&softmax, &error));
    show("softmax", softmax_launch(&softmax, NULL, &rows, &error));
    show("unload", softmax_unload(&softmax, &error));
    product.a = ttc_matrix(0x10000, 384, 192);
    product.b = ttc_matrix(0x20000, 256, 192);
    product.c = ttc_matrix(0x30000, 384, 256);
    product.m = 384;
    product.n = 256;
    product.k = 192;
    show("load matmul", matmul_load(&matmul, &error));
    show("matmul", matmul_launch(&matmul, NULL, &product, &error));
    show("unload", matmul_unload(&matmul, &error));
    return 0;
}
