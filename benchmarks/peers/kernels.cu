// The kernels of `gpu_code_kernels.py` in CUDA C++, as they are written by hand for one GPU: 32-bit indices, restrict,
// the sizes of groups known. `// loop: name` marks the line in which a loop does its work.

extern "C" {

typedef unsigned short bf16;

__device__ inline float widened(bf16 bits) { return __int_as_float((int)bits << 16); }

__device__ inline bf16 rounded(float value) {
  bf16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__global__ void __launch_bounds__(256) saxpy(float* __restrict__ y, const float* __restrict__ x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void __launch_bounds__(256) triad(float* __restrict__ a, const float* __restrict__ b,
                                             const float* __restrict__ c, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + s * c[i];
}

__global__ void __launch_bounds__(256) heat(float* __restrict__ to, const float* __restrict__ from, float c, int rows,
                                            int columns) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
    int k = i * columns + j;
    to[k] = from[k] + c * (from[k + columns] + from[k - columns] + from[k + 1] + from[k - 1] - 4.0f * from[k]);
  }
}

__global__ void __launch_bounds__(256) heat_gradient(float* __restrict__ dfrom, const float* __restrict__ dto, float c,
                                                     int rows, int columns) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
    int k = i * columns + j;
    float d = dto[k], e = c * d;
    atomicAdd(&dfrom[k], d - 4.0f * e);
    atomicAdd(&dfrom[k + columns], e);
    atomicAdd(&dfrom[k - columns], e);
    atomicAdd(&dfrom[k + 1], e);
    atomicAdd(&dfrom[k - 1], e);
  }
}

__global__ void __launch_bounds__(256) diffusion3(float* __restrict__ to, const float* __restrict__ from,
                                                  const float* __restrict__ k, float c, int nx, int ny, int nz) {
  int m = blockIdx.x * 64 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, i = blockIdx.z;
  if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && m > 0 && m < nz - 1) {
    int plane = ny * nz, at = i * plane + j * nz + m;
    float around = from[at + plane] + from[at - plane] + from[at + nz] + from[at - nz] + from[at + 1] + from[at - 1];
    to[at] = from[at] + c * k[at] * (around - 6.0f * from[at]);
  }
}

__global__ void __launch_bounds__(256) transpose_shared(float* __restrict__ out, const float* __restrict__ a, int rows,
                                                        int columns) {
  __shared__ float tile[16][17];
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i < rows && j < columns) tile[threadIdx.y][threadIdx.x] = a[i * columns + j];
  __syncthreads();
  int above = blockIdx.x * 16 + threadIdx.y, left = blockIdx.y * 16 + threadIdx.x;
  if (above < columns && left < rows) out[above * rows + left] = tile[threadIdx.x][threadIdx.y];
}

__device__ inline float group_sum(float v) {
  __shared__ float part[8];
  for (int s = 16; s; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int s = 4; s; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
  return v;
}

__device__ inline float group_max(float v) {
  __shared__ float part[8];
  for (int s = 16; s; s >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[threadIdx.x % 8];
  for (int s = 4; s; s >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, s));
  return v;
}

__global__ void __launch_bounds__(256) softmax(float* __restrict__ y, const float* __restrict__ x, int n) {
  const float* row = x + blockIdx.x * n;
  float* out = y + blockIdx.x * n;
  float largest = -__int_as_float(0x7f800000);
#pragma unroll 16
  for (int k = threadIdx.x; k < n; k += 256)
    largest = fmaxf(largest, row[k]);  // loop: max
  largest = group_max(largest);
  float total = 0;
#pragma unroll 16
  for (int k = threadIdx.x; k < n; k += 256)
    total += __expf(row[k] - largest);  // loop: sum
  float scale = 1.0f / group_sum(total);
#pragma unroll 8
  for (int k = threadIdx.x; k < n; k += 256)
    out[k] = __expf(row[k] - largest) * scale;  // loop: write
}

__global__ void __launch_bounds__(256) layernorm(float* __restrict__ y, const float* __restrict__ x,
                                                 const float* __restrict__ weight, const float* __restrict__ bias,
                                                 float eps, int n) {
  const float* row = x + blockIdx.x * n;
  float* out = y + blockIdx.x * n;
  float total = 0, squares = 0;
#pragma unroll 16
  for (int k = threadIdx.x; k < n; k += 256)
    total += row[k];  // loop: sum
  float mean = group_sum(total) / n;
#pragma unroll 16
  for (int k = threadIdx.x; k < n; k += 256) {
    float d = row[k] - mean;  // loop: squares
    squares += d * d;
  }
  float scale = rsqrtf(group_sum(squares) / n + eps);
#pragma unroll 4
  for (int k = threadIdx.x; k < n; k += 256)
    out[k] = (row[k] - mean) * scale * weight[k] + bias[k];  // loop: write
}

__global__ void __launch_bounds__(256) nbody(float* __restrict__ a, const float* __restrict__ p, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float x = p[i], y = p[n + i], z = p[2 * n + i], ax = 0, ay = 0, az = 0;
#pragma unroll 4
  for (int j = 0; j < n; j++) {
    float dx = p[j] - x, dy = p[n + j] - y, dz = p[2 * n + j] - z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);  // loop: pairs
    float s = r * r * r;
    ax += dx * s;
    ay += dy * s;
    az += dz * s;
  }
  a[i] = ax;
  a[n + i] = ay;
  a[2 * n + i] = az;
}

__global__ void __launch_bounds__(256) matmul(float* __restrict__ c, const float* __restrict__ a,
                                              const float* __restrict__ b, int rows, int columns, int terms) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i >= rows || j >= columns) return;
  float total = 0;
#pragma unroll 4
  for (int k = 0; k < terms; k++)
    total += a[i * terms + k] * b[k * columns + j];  // loop: terms
  c[i * columns + j] = total;
}

__global__ void __launch_bounds__(256) matmul_shared(float* __restrict__ c, const float* __restrict__ a,
                                                     const float* __restrict__ b, int rows, int columns, int terms) {
  __shared__ float left[16][17], right[16][17];
  int column = threadIdx.x, row = threadIdx.y, j = blockIdx.x * 16 + column, i = blockIdx.y * 16 + row;
  float total = 0;
  for (int start = 0; start < terms; start += 16) {
    left[row][column] = a[i * terms + start + column];
    right[row][column] = b[(start + row) * columns + j];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
      total += left[row][k] * right[k][column];  // loop: tile
    __syncthreads();
  }
  c[i * columns + j] = total;
}

__global__ void __launch_bounds__(256) histogram(int* __restrict__ counts, const int* __restrict__ values, int n) {
  __shared__ int mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  int first = blockIdx.x * 4096 + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    int p = first + k * 256;
    if (p < n) atomicAdd(&mine[values[p]], 1);
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

__global__ void __launch_bounds__(256) reduction(float* __restrict__ sum, const float* __restrict__ x, int n) {
  int first = blockIdx.x * 4096 + threadIdx.x;
  float mine = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    int p = first + k * 256;
    if (p < n) mine += x[p];
  }
  mine = group_sum(mine);
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

__global__ void __launch_bounds__(256) rmsnorm(float* __restrict__ y, const float* __restrict__ x,
                                               const float* __restrict__ weight, float eps, int n) {
  const float* row = x + blockIdx.x * n;
  float* out = y + blockIdx.x * n;
  float squares = 0;
#pragma unroll 16
  for (int k = threadIdx.x; k < n; k += 256)
    squares += row[k] * row[k];  // loop: squares
  float scale = rsqrtf(group_sum(squares) / n + eps);
#pragma unroll 8
  for (int k = threadIdx.x; k < n; k += 256)
    out[k] = row[k] * scale * weight[k];  // loop: write
}

__global__ void __launch_bounds__(256) gelu(float* __restrict__ y, const float* __restrict__ x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float v = x[i], u = 0.7978845608f * (v + 0.044715f * v * v * v);
    y[i] = v / (1.0f + __expf(-2.0f * u));
  }
}

__global__ void __launch_bounds__(256) mandelbrot(int* __restrict__ counts, float scale, int rows, int columns,
                                                  int limit) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i >= rows || j >= columns) return;
  float cx = j * scale - 2.0f, cy = i * scale - 1.5f, x = 0, y = 0;
  int n = 0;
  while (n < limit) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    y = 2.0f * x * y + cy;  // loop: steps
    x = xx - yy + cx;
    n++;
  }
  counts[i * columns + j] = n;
}

__global__ void __launch_bounds__(256) spmv(float* __restrict__ y, const float* __restrict__ values,
                                            const int* __restrict__ columns, const int* __restrict__ starts,
                                            const float* __restrict__ x, int rows) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= rows) return;
  float total = 0;
#pragma unroll 4
  for (int k = starts[i], end = starts[i + 1]; k < end; k++)
    total += values[k] * x[columns[k]];  // loop: entries
  y[i] = total;
}

__global__ void __launch_bounds__(256) filter3(float* __restrict__ out, const float* __restrict__ image,
                                               const float* __restrict__ weights, int rows, int columns) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
    float total = 0;
#pragma unroll
    for (int a = 0; a < 3; a++)
#pragma unroll
      for (int b = 0; b < 3; b++) total += image[(i + a - 1) * columns + j + b - 1] * weights[a * 3 + b];
    out[i * columns + j] = total;
  }
}

__global__ void __launch_bounds__(256) gather(float* __restrict__ y, const float* __restrict__ x,
                                              const int* __restrict__ index, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[index[i]];
}

__global__ void __launch_bounds__(256) life(unsigned char* __restrict__ to, const unsigned char* __restrict__ from,
                                            int rows, int columns) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i > 0 && i < rows - 1 && j > 0 && j < columns - 1) {
    const unsigned char* p = from + i * columns + j;
    int n = p[-columns - 1] + p[-columns] + p[-columns + 1] + p[-1] + p[1] + p[columns - 1] + p[columns] + p[columns + 1];
    to[i * columns + j] = n == 3 || (n == 2 && *p == 1);
  }
}

__global__ void __launch_bounds__(256) axpy_bf16(bf16* __restrict__ y, const bf16* __restrict__ x, float a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = rounded(a * widened(x[i]) + widened(y[i]));
}

__global__ void __launch_bounds__(256) copy(float* __restrict__ y, const float* __restrict__ x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = x[i];
}

__global__ void __launch_bounds__(256) transpose(float* __restrict__ out, const float* __restrict__ a, int rows,
                                                 int columns) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i < rows && j < columns) out[j * rows + i] = a[i * columns + j];
}

__global__ void __launch_bounds__(256) bias_relu(float* __restrict__ y, const float* __restrict__ x,
                                                 const float* __restrict__ bias, int rows, int columns) {
  int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
  if (i < rows && j < columns) y[i * columns + j] = fmaxf(x[i * columns + j] + bias[j], 0.0f);
}

__global__ void __launch_bounds__(256) scatter_add(float* __restrict__ out, const float* __restrict__ x,
                                                   const int* __restrict__ index, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&out[index[i]], x[i]);
}

__global__ void __launch_bounds__(256) dot(float* __restrict__ sum, const float* __restrict__ x,
                                           const float* __restrict__ y, int n) {
  int first = blockIdx.x * 4096 + threadIdx.x;
  float mine = 0;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    int p = first + k * 256;
    if (p < n) mine += x[p] * y[p];
  }
  mine = group_sum(mine);
  if (threadIdx.x == 0) atomicAdd(sum, mine);
}

__global__ void __launch_bounds__(256) matvec(float* __restrict__ y, const float* __restrict__ a,
                                              const float* __restrict__ x, int n) {
  const float* row = a + blockIdx.x * n;
  float total = 0;
#pragma unroll 16
  for (int k = threadIdx.x; k < n; k += 256)
    total += row[k] * x[k];  // loop: products
  total = group_sum(total);
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}

__global__ void __launch_bounds__(256) adam(float* __restrict__ weight, float* __restrict__ moment,
                                            float* __restrict__ square, const float* __restrict__ gradient, float rate,
                                            int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float g = gradient[i], m = 0.9f * moment[i] + 0.1f * g, v = 0.999f * square[i] + 0.001f * g * g;
    moment[i] = m;
    square[i] = v;
    weight[i] -= rate * m / (sqrtf(v) + 1e-8f);
  }
}

__global__ void __launch_bounds__(256) convolution(float* __restrict__ y, const float* __restrict__ x,
                                                   const float* __restrict__ w, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i > 1 && i < n - 2) {
    float total = 0;
#pragma unroll
    for (int k = 0; k < 5; k++) total += x[i + k - 2] * w[k];
    y[i] = total;
  }
}

__global__ void __launch_bounds__(256) grey(float* __restrict__ y, const unsigned char* __restrict__ x, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = 0.299f * x[3 * i] + 0.587f * x[3 * i + 1] + 0.114f * x[3 * i + 2];
}

__global__ void __launch_bounds__(256) lower_bound(int* __restrict__ out, const float* __restrict__ ordered,
                                                   const float* __restrict__ wanted, int count, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  float value = wanted[i];
  int low = 0, high = count;
  while (low < high) {
    int middle = (low + high) >> 1;
    if (ordered[middle] < value)  // loop: halves
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}

__device__ inline float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  tail = 0.39894228f * __expf(-0.5f * d * d) * tail;
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void __launch_bounds__(256) black_scholes(float* __restrict__ call, const float* __restrict__ price,
                                                     const float* __restrict__ strike,
                                                     const float* __restrict__ years, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    float p = price[i], s = strike[i], t = years[i], root = sqrtf(t);
    float d = (__logf(p / s) + 0.065f * t) / (0.3f * root);
    call[i] = p * normal(d) - s * __expf(-0.02f * t) * normal(d - 0.3f * root);
  }
}

__global__ void __launch_bounds__(256) axpy_f64(double* __restrict__ y, const double* __restrict__ x, double a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
// The kernels of `gpu_code_ports.py`: what a port would begin with.

__global__ void __launch_bounds__(256) ported_steps(float* __restrict__ y, const float* __restrict__ x, float a, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    y[i] = a * x[i] + y[i];  // loop: elements
}

__global__ void __launch_bounds__(256) ported_while(float* __restrict__ y, const float* __restrict__ x, float a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  while (i < n) {
    y[i] = a * x[i] + y[i];  // loop: elements
    i += gridDim.x * 256;
  }
}

__global__ void __launch_bounds__(256) ported_heat(float* __restrict__ to, const float* __restrict__ from, float c,
                                                   int nx, int ny) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    int k = y * nx + x;
    to[k] = from[k] + c * (from[k + nx] + from[k - nx] + from[k + 1] + from[k - 1] - 4.0f * from[k]);
  }
}

__global__ void __launch_bounds__(256) ported_blend(float* __restrict__ out, const float* __restrict__ a,
                                                    const float* __restrict__ b, float c, int width, int height) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  int k = y * width + x;
  out[k] = a[k] + c * (b[k] - a[k]);
}

__global__ void __launch_bounds__(256) ported_volume(float* __restrict__ out, const float* __restrict__ a, float c,
                                                     int nx, int ny, int nz) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 2 + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    int k = (z * ny + y) * nx + x;
    out[k] = c * a[k];
  }
}

__global__ void __launch_bounds__(256) ported_transpose(float* __restrict__ out, const float* __restrict__ a, int width,
                                                        int height) {
  __shared__ float tile[16][17];
  int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  if (x < width && y < height) tile[ty][tx] = a[y * width + x];
  __syncthreads();
  int left = blockIdx.y * 16 + tx, above = blockIdx.x * 16 + ty;
  if (left < height && above < width) out[above * height + left] = tile[tx][ty];
}

__global__ void __launch_bounds__(256) ported_matmul(float* __restrict__ c, const float* __restrict__ a,
                                                     const float* __restrict__ b, int m, int n, int k) {
  __shared__ float left[16][16], right[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float total = 0;
  for (int start = 0; start < k; start += 16) {
    left[ty][tx] = row < m && start + tx < k ? a[row * k + start + tx] : 0.0f;
    right[ty][tx] = start + ty < k && column < n ? b[(start + ty) * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 16; e++)
      total += left[ty][e] * right[e][tx];  // loop: tile
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = total;
}

__global__ void __launch_bounds__(256) ported_convolution(float* __restrict__ out, const float* __restrict__ image,
                                                          const float* __restrict__ weights, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2) return;
  float total = 0;
#pragma unroll
  for (int i = 0; i < 5; i++)
#pragma unroll
    for (int j = 0; j < 5; j++) total += image[(y + i - 2) * width + x + j - 2] * weights[i * 5 + j];
  out[y * width + x] = total;
}

__global__ void __launch_bounds__(256) ported_sum(float* __restrict__ out, const float* __restrict__ x, int n) {
  __shared__ float part[256];
  int here = threadIdx.x;
  float mine = 0;
#pragma unroll 16
  for (int i = blockIdx.x * 256 + here; i < n; i += gridDim.x * 256)
    mine += x[i];  // loop: elements
  part[here] = mine;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (here < half) part[here] += part[here + half];
    __syncthreads();
  }
  if (here == 0) atomicAdd(out, part[0]);
}

__global__ void __launch_bounds__(256) ported_tree(float* __restrict__ out, const float* __restrict__ x, int n) {
  __shared__ float part[256];
  int here = threadIdx.x, i = blockIdx.x * 512 + here;
  float mine = i < n ? x[i] : 0.0f;
  if (i + 256 < n) mine += x[i + 256];
  part[here] = mine;
  __syncthreads();
#pragma unroll
  for (int half = 128; half > 0; half /= 2) {
    if (here < half) part[here] += part[here + half];
    __syncthreads();
  }
  if (here == 0) out[blockIdx.x] = part[0];
}

__global__ void __launch_bounds__(256) ported_matvec(float* __restrict__ y, const float* __restrict__ a,
                                                     const float* __restrict__ x, int m, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < m) {
    float total = 0;
#pragma unroll 8
    for (int k = 0; k < n; k++)
      total += a[i * n + k] * x[k];  // loop: products
    y[i] = total;
  }
}

__global__ void __launch_bounds__(256) ported_histogram(int* __restrict__ counts, const int* __restrict__ values, int n) {
  __shared__ int bins[256];
  int here = threadIdx.x;
  bins[here] = 0;
  __syncthreads();
#pragma unroll 8
  for (int i = blockIdx.x * 256 + here; i < n; i += gridDim.x * 256)
    atomicAdd(&bins[values[i]], 1);  // loop: elements
  __syncthreads();
  atomicAdd(&counts[here], bins[here]);
}

}
