/// Elements of NVIDIA's data types as doubles and back, for products and sums that are really done.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace fake {

inline double small_float(unsigned bits, int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned mantissa = bits & ((1U << mantissa_bits) - 1);
    const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const double sign = (bits >> (exponent_bits + mantissa_bits)) & 1U ? -1 : 1;
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    return sign * (exponent == 0 ? std::ldexp(fraction, 1 - bias)
                                 : std::ldexp(1 + fraction, exponent - bias));
}

/// The element at a place of an array of cudaDataType `type`.
inline double load(const char* array, std::size_t place, int type) {
    float single;
    double real;
    std::uint16_t half;
    std::int32_t whole;
    switch (type) {
        case 0:
            std::memcpy(&single, array + 4 * place, 4);
            return single;
        case 1:
            std::memcpy(&real, array + 8 * place, 8);
            return real;
        case 2:
            std::memcpy(&half, array + 2 * place, 2);
            return small_float(half, 5, 10);
        case 14:
            std::memcpy(&half, array + 2 * place, 2);
            return small_float(half, 8, 7);
        case 3:
            return static_cast<signed char>(array[place]);
        case 10:
            std::memcpy(&whole, array + 4 * place, 4);
            return whole;
        case 28:
            return small_float(static_cast<unsigned char>(array[place]), 4, 3);
        case 33: {
            const unsigned both = static_cast<unsigned char>(array[place / 2]);
            return small_float(place % 2 ? both >> 4 : both & 15U, 2, 1);
        }
        default:
            return 0;
    }
}

inline std::uint16_t half_bits(double value) {
    const double size = std::fabs(value);
    const unsigned sign = std::signbit(value) ? 0x8000U : 0;
    if (size < std::ldexp(1, -14)) {
        return static_cast<std::uint16_t>(
            sign | static_cast<unsigned>(std::nearbyint(std::ldexp(size, 24))));
    }
    int exponent;
    const double fraction = std::frexp(size, &exponent);
    const auto mantissa = static_cast<unsigned>(std::nearbyint(std::ldexp(fraction, 11)));
    return static_cast<std::uint16_t>(sign + (static_cast<unsigned>(exponent + 14) << 10) +
                                      (mantissa - 1024));
}

inline void store(char* array, std::size_t place, int type, double value) {
    const auto single = static_cast<float>(value);
    const auto whole = static_cast<std::int32_t>(std::nearbyint(value));
    std::uint32_t bits;
    std::uint16_t half;
    switch (type) {
        case 0:
            std::memcpy(array + 4 * place, &single, 4);
            return;
        case 1:
            std::memcpy(array + 8 * place, &value, 8);
            return;
        case 2:
            half = half_bits(value);
            std::memcpy(array + 2 * place, &half, 2);
            return;
        case 14:
            std::memcpy(&bits, &single, 4);
            half = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1U)) >> 16);
            std::memcpy(array + 2 * place, &half, 2);
            return;
        case 10:
            std::memcpy(array + 4 * place, &whole, 4);
            return;
        default:
            return;
    }
}

}  // namespace fake
