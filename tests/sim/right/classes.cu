// Virtual functions, tables of functions, types defined in a declaration of a variable, constants in functions.
// launch: classes --grid 2 --block 64 y=i32[128]
class shape {
  public:
    __device__ virtual int area() const = 0;
    __device__ virtual ~shape() {}
};
class square : public shape {
    int side_;

  public:
    __device__ explicit square(int side) : side_(side) {}
    __device__ int area() const override { return side_ * side_; }
};
class strip : public shape {
    int length_;

  public:
    __device__ explicit strip(int length) : length_(length) {}
    __device__ int area() const override { return length_; }
};
typedef int (*operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ operation operations[] = {add, multiply};
__device__ const operation fixed[] = {multiply, add};
__constant__ struct {
    int width, height;
} extents = {3, 4};
__device__ struct point {
    int x, y;
} places[2] = {{1, 2}, {3, 4}}, origin;
struct point unused;
__device__ union {
    int number;
    unsigned char bytes[4];
} word = {0x01020304};

__global__ void classes(int *y) {
    static const int steps[] = {1, 2, 4, 8};
    square a(threadIdx.x);
    strip b(blockIdx.x);
    const shape *shapes[] = {&a, &b};
    const char *text = "sum";
    int sum = text[threadIdx.x % 3] == 's' ? 0 : steps[threadIdx.x % 4] * 0;
    for (const shape *one : shapes)
        sum += one->area();
    assert(sum == threadIdx.x * threadIdx.x + blockIdx.x);
    assert(operations[threadIdx.x % 2](3, 5) + fixed[threadIdx.x % 2](3, 5) == 23);
    assert(extents.width * extents.height == 12 && places[1].y == 4 && origin.x == 0 && word.bytes[0] == 4);
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
