// Approximations, within the error that the PTX ISA gives for hardware, against long double; and
// their special values. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FormTest.h"

using namespace ts::emu;
using namespace ts::emu::test;

namespace {
using Function = long double (*)(long double);

/// Runs a form over 32 values of every lane and gives (x, result) to `check`.
template <class T>
void sweep(const std::string &op, char shape, const std::vector<T> &values,
           const std::function<void(T, T)> &check) {
  for (size_t at = 0; at < values.size(); at += 32) {
    Operands in;
    for (size_t i = 0; i < 32; ++i)
      in.a[i] = bitsOf(values[std::min(at + i, values.size() - 1)]);
    // The value itself is checked here; the form's test only has to be run.
    std::vector<uint64_t> results;
    test::Run run;
    run.body = std::string("mul.wide.u32 %rd2, %r0, 8;\nadd.u64 %rd3, %rd1, %rd2;\n") +
               "add.u64 %rd4, %rd0, %rd2;\nld.global.b64 %rd10, [%rd3];\n" +
               "ld.global.b32 %r10, [%rd3];\n" + op + " " + formRegister(shape, 20) + ", " +
               formRegister(shape, 10) + ";\nst.global.b" + (shape == 'd' ? "64" : "32") +
               " [%rd4], " + formRegister(shape, 20) + ";\n";
    run.input = bytesOf(std::vector<uint64_t>(in.a.begin(), in.a.end()));
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << op << ran.text();
    for (size_t i = 0; i < 32; ++i)
      check(as<T>(in.a[i]), as<T>(ran.at<uint64_t>(i)));
  }
}

std::vector<float> range(float low, float high, unsigned count = 512) {
  std::vector<float> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(low + (high - low) * (float(i) / float(count - 1)));
  return values;
}

bool tiny(float v) { return v != 0 && std::fabs(v) < 0x1p-126f; }

/// Relative error at most 2^-bits of the true value.
void relative(const std::string &op, Function f, const std::vector<float> &values, int bits) {
  for (bool ftz : {false, true}) {
    if (ftz && op.find("tanh") == 0)
      continue;
    sweep<float>(op + (ftz ? ".ftz" : "") + ".f32", 'r', values, [&](float x, float got) {
      if (ftz && tiny(x))
        x = std::copysign(0.0f, x);
      long double exact = f(x);
      if (std::isnan(exact)) {
        EXPECT_TRUE(std::isnan(got)) << op << " of " << x;
        return;
      }
      if (ftz && tiny(float(exact)))
        exact = 0;
      if (std::isinf(float(exact)) || exact == 0) {
        EXPECT_EQ(got, float(exact)) << op << " of " << x;
        return;
      }
      EXPECT_LE(std::fabs(got - exact), std::ldexp(std::fabs(exact), -bits) + 0x1p-149L)
          << op << " of " << x;
    });
  }
}

void absolute(const std::string &op, Function f, const std::vector<float> &values, long double e) {
  for (std::string ftz : {"", ".ftz"})
    sweep<float>(op + ftz + ".f32", 'r', values, [&](float x, float got) {
      EXPECT_LE(std::fabs(got - f(x)), e) << op << " of " << x;
    });
}

constexpr float specialValues[] = {0.0f,      -0.0f,      INFINITY,  -INFINITY, NAN,
                                   0x1p-149f, -0x1p-149f, 0x1p-126f, 1.0f,      -1.0f,
                                   0x1p127f,  2.0f,       0.5f,      -2.0f};

std::vector<float> specials() { return {std::begin(specialValues), std::end(specialValues)}; }
} // namespace

TEST(FloatApprox, Functions) {
  relative("rcp.approx", [](long double x) { return 1 / x; }, range(0.01f, 90), 23);
  relative("rcp.approx", [](long double x) { return 1 / x; }, specials(), 23);
  relative("sqrt.approx", [](long double x) { return sqrtl(x); }, range(0.0f, 1e6f), 23);
  relative("sqrt.approx", [](long double x) { return sqrtl(x); }, specials(), 23);
  relative("rsqrt.approx", [](long double x) { return 1 / sqrtl(x); }, range(0.01f, 1e6f), 22);
  relative("rsqrt.approx", [](long double x) { return 1 / sqrtl(x); }, specials(), 22);
  relative("ex2.approx", [](long double x) { return exp2l(x); }, range(-140, 130), 22);
  relative("ex2.approx", [](long double x) { return exp2l(x); }, specials(), 22);
  relative("lg2.approx", [](long double x) { return log2l(x); }, range(2.0f, 1e9f), 22);
  absolute("lg2.approx", [](long double x) { return log2l(x); }, range(0.5f, 2.0f), 0x1p-22L);
  absolute("sin.approx", [](long double x) { return sinl(x); }, range(-6.28f, 6.28f), 0x1p-20L);
  absolute("cos.approx", [](long double x) { return cosl(x); }, range(-6.28f, 6.28f), 0x1p-20L);
  relative("tanh.approx", [](long double x) { return tanhl(x); }, range(-9, 9), 11);
  relative("tanh.approx", [](long double x) { return tanhl(x); }, specials(), 11);
}

TEST(FloatApprox, SpecialValues) {
  auto is = [](const char *op, float x, float expected) {
    sweep<float>(op, 'r', {x}, [&](float, float got) {
      EXPECT_EQ(std::isnan(expected) ? std::isnan(got) : bitsOf(got) == bitsOf(expected), true)
          << op << " of " << x << ": " << got;
    });
  };
  is("sin.approx.f32", -0.0f, -0.0f);
  is("sin.approx.f32", INFINITY, NAN);
  is("cos.approx.f32", 0.0f, 1.0f);
  is("cos.approx.f32", -INFINITY, NAN);
  is("lg2.approx.f32", -0.0f, -INFINITY);
  is("lg2.approx.f32", -1.0f, NAN);
  is("lg2.approx.f32", INFINITY, INFINITY);
  is("ex2.approx.f32", -INFINITY, 0.0f);
  is("ex2.approx.ftz.f32", -0x1p-140f, 1.0f);
  is("rcp.approx.ftz.f32", -0x1p-140f, -INFINITY);
  is("sqrt.approx.f32", -0.0f, -0.0f);
  is("rsqrt.approx.f32", -0.0f, -INFINITY);
  is("tanh.approx.f32", -0.0f, -0.0f);
}

TEST(FloatApprox, Doubles) {
  std::vector<double> values = {1.0, 3.0, -7.25, 1e300, 1e-300, 0.0, -0.0, INFINITY, -INFINITY};
  sweep<double>("rcp.approx.ftz.f64", 'd', values, [](double x, double got) {
    EXPECT_EQ(bitsOf(got) & 0xffffffff, 0u);
    double top = as<double>(bitsOf(x) & 0xffffffff00000000);
    if (std::isfinite(1 / top) && top != 0 && !std::isinf(top))
      EXPECT_NEAR(got * top, 1.0, 0x1p-19);
    else
      EXPECT_EQ(got, 1 / top);
  });
  sweep<double>("rcp.approx.ftz.f64", 'd', {NAN},
                [](double, double got) { EXPECT_EQ(bitsOf(got), 0x7fffffff00000000u); });
  sweep<double>("rsqrt.approx.ftz.f64", 'd', {4.0, 2.0, 1e100}, [](double x, double got) {
    EXPECT_NEAR(got * got * x, 1.0, 0x1p-18);
    EXPECT_EQ(bitsOf(got) & 0xffffffff, 0u);
  });
  sweep<double>("rsqrt.approx.f64", 'd', {4.0, 2.0, 1e100},
                [](double x, double got) { EXPECT_NEAR(got * got * x, 1.0, 1e-15); });
}

TEST(FloatApprox, Quotients) {
  for (std::string op : {"div.approx", "div.approx.ftz", "div.full", "div.full.ftz"}) {
    Ran ran = runPtx(op + ".f32 %f1, 0f40400000, 0f40E00000;\n" + op +
                     ".f32 %f2, 0f3F800000, 0f7F000000;\nst.global.f32 [%rd0], %f1;\n"
                     "st.global.f32 [%rd0+4], %f2;\n");
    ASSERT_TRUE(ran.ok()) << ran.text();
    EXPECT_NEAR(ran.at<float>(0), 3.0 / 7.0, 2 * 0x1p-25);
    // 1 / 2^127 is subnormal; div.approx says zero there.
    bool kept = op == "div.full";
    EXPECT_EQ(ran.at<float>(1), kept ? 0x1p-127f : 0.0f) << op;
  }
}

// Every f16 and bf16 value.
TEST(FloatApprox, Halves) {
  struct Form {
    const char *op;
    Format f;
    bool pair;
    Function function;
    long double error; // relative
    bool ftz;
  };
  auto ex2 = [](long double x) { return exp2l(x); };
  auto tanh = [](long double x) { return tanhl(x); };
  // The ISA: ex2.f16 2^-9.9 relative, tanh.f16 2^-10.987 absolute, bf16 2^-7 and 2^-8.
  for (const Form &form : {Form{"ex2.approx.f16", formatF16, false, ex2, 0x1p-9L, false},
                           Form{"ex2.approx.f16x2", formatF16, true, ex2, 0x1p-9L, false},
                           Form{"ex2.approx.ftz.bf16", formatBF16, false, ex2, 0x1p-7L, true},
                           Form{"ex2.approx.ftz.bf16x2", formatBF16, true, ex2, 0x1p-7L, true},
                           Form{"tanh.approx.f16", formatF16, false, tanh, 0x1p-10L, false},
                           Form{"tanh.approx.f16x2", formatF16, true, tanh, 0x1p-10L, false},
                           Form{"tanh.approx.bf16", formatBF16, false, tanh, 0x1p-7L, false},
                           Form{"tanh.approx.bf16x2", formatBF16, true, tanh, 0x1p-7L, false}}) {
    std::string reg = form.pair ? "%r10" : "%rs10", to = form.pair ? "%r20" : "%rs20";
    test::Run run;
    run.body = std::string("mul.lo.u32 %r9, %r0, 4;\ncvt.u64.u32 %rd2, %r9;\n") +
               "add.u64 %rd3, %rd1, %rd2;\nadd.u64 %rd4, %rd0, %rd2;\nmov.u32 %r1, 0;\n" +
               "again:\nld.global.b" + (form.pair ? "32 " : "16 ") + reg + ", [%rd3];\n" + form.op +
               " " + to + ", " + reg + ";\nst.global.b" + (form.pair ? "32" : "16") + " [%rd4], " +
               to + ";\nadd.u64 %rd3, %rd3, 128;\nadd.u64 %rd4, %rd4, 128;\n" +
               "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 2048;\n@%p1 bra again;\n";
    std::vector<uint32_t> input(65536);
    for (uint32_t i = 0; i < 65536; ++i)
      input[i] = i | (i ^ 0x8000) << 16;
    run.input = bytesOf(input);
    run.outputBytes = 4 * 65536;
    Ran ran = runPtx(run);
    ASSERT_TRUE(ran.ok()) << ran.text();
    for (uint32_t i = 0; i < 65536; ++i)
      for (unsigned half = 0; half < (form.pair ? 2u : 1u); ++half) {
        Decoded x = decode(form.f, input[i] >> (16 * half) & 0xffff);
        Decoded got = decode(form.f, ran.at<uint16_t>(2 * i + half));
        if (x.nan) {
          ASSERT_TRUE(got.nan);
          continue;
        }
        long double value = x.infinite ? (x.negative ? -INFINITY : INFINITY) : (long double)x.value;
        if (form.ftz && std::fabs(value) < 0x1p-126L)
          value = 0;
        long double exact = form.function(value);
        long double limit = form.f.mantissa == 10 ? 65520.0L : 0x1.ffp127L;
        if (exact >= limit) {
          ASSERT_TRUE(got.infinite) << form.op << " of " << double(value);
          continue;
        }
        if (form.ftz && exact < 0x1p-126L)
          exact = 0;
        long double unit = form.f.mantissa == 10 ? 0x1p-24L : 0x1p-133L;
        ASSERT_FALSE(got.nan || got.infinite) << form.op << " of " << double(value);
        ASSERT_LE(std::fabs((long double)got.value - exact), std::fabs(exact) * form.error + unit)
            << form.op << " of " << double(value);
      }
  }
}
