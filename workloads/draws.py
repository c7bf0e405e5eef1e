"""Random numbers that are the same, bit for bit, on every machine and with every version of NumPy.

NumPy promises a stable raw stream for its bit generators, but neither stable distributions
(``Generator.normal`` may change between versions) nor equal last digits of ``exp`` and ``log`` between machines.
A workload is input data: its bytes must depend on the seed alone. So the raw 64-bit numbers come from PCG64, and the
transformations below use only operations that IEEE 754 defines exactly (+, -, *, /, sqrt, scaling by powers of two),
each rounded separately.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LN2_HIGH = 6.93147180369123816490e-01  # the upper 32 bits of ln 2: products with small integers are exact
_LN2_LOW = 1.90821492927058770002e-10
_HALF_ROOT = 0.7071067811865476

# M. J. Wichura, Algorithm AS 241: the percentage points of the normal distribution, Applied Statistics 37 (1988),
# 477-484, routine PPND16: numerator and denominator coefficients, highest power first.
_CENTRE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_SHOULDER = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip


class Draws:
    """One named stream of random numbers.

    Parameters
    ----------
    seed
        Any whole number >= 0.
    stream
        Purpose of the numbers. Different names give independent streams, so that adding a quantity to a generator
        does not change the others.
    """

    def __init__(self, seed: int, stream: str) -> None:
        entropy = np.random.SeedSequence([seed, zlib.crc32(stream.encode())])
        self._bits = np.random.PCG64(entropy)

    def uniform(self, count: int) -> Floats:
        """``count`` numbers, uniform on the open interval (0, 1): the middle of one of 2**52 equal cells."""
        raw: npt.NDArray[np.uint64] = self._bits.random_raw(count)
        # 52 bits and a half need 53: every value is exact and the largest stays below 1
        return ((raw >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def normal(self, count: int) -> Floats:
        """``count`` standard normal numbers (inversion of :meth:`uniform`)."""
        return normal_quantile(self.uniform(count))

    def exponential(self, count: int) -> Floats:
        """``count`` exponential numbers with mean 1."""
        return -log(self.uniform(count))

    def choose(self, weights: npt.ArrayLike, count: int) -> npt.NDArray[np.int64]:
        """``count`` indices, each drawn in proportion to ``weights`` (>= 0, not all 0)."""
        cumulative = np.cumsum(np.asarray(weights, dtype=np.float64))
        found = np.searchsorted(cumulative, self.uniform(count) * cumulative[-1], side="right")
        return np.asarray(np.minimum(found, len(cumulative) - 1), dtype=np.int64)


def exp(values: npt.ArrayLike) -> Floats:
    """e to the power of each value (|value| < 700), reproducible, within about 2 units in the last place."""
    x = np.asarray(values, dtype=np.float64)
    power = np.rint(x * 1.4426950408889634)
    rest = (x - power * _LN2_HIGH) - power * _LN2_LOW
    result = np.ones_like(rest)
    for divisor in range(14, 0, -1):  # Taylor series in Horner's form: |rest| < 0.35, the last term is below 1e-17
        result = result * (rest / divisor) + 1.0
    return np.asarray(np.ldexp(result, power.astype(np.int32)), dtype=np.float64)


def log(values: npt.ArrayLike) -> Floats:
    """Natural logarithm of each value (> 0), reproducible, within about 2 units in the last place."""
    x = np.asarray(values, dtype=np.float64)
    fraction, power = np.frexp(x)
    low = fraction < _HALF_ROOT
    fraction = np.where(low, fraction * 2.0, fraction)
    exponent = np.where(low, power - 1, power).astype(np.float64)
    s = (fraction - 1.0) / (fraction + 1.0)  # log(fraction) = 2 atanh(s), |s| < 0.172
    square = s * s
    series = np.zeros_like(s)
    for divisor in range(23, 1, -2):
        series = (series + 1.0 / divisor) * square
    return exponent * _LN2_HIGH + (exponent * _LN2_LOW + 2.0 * (s + s * series))


def normal_quantile(probability: npt.ArrayLike) -> Floats:
    """Inverse of the standard normal distribution function, for probabilities in (0, 1); relative error about 1e-15.

    References
    ----------
    M. J. Wichura, Algorithm AS 241, Applied Statistics 37 (1988), 477-484, doi 10.2307/2347330.
    """
    p = np.asarray(probability, dtype=np.float64)
    q = p - 0.5
    centre = q * _ratio(_CENTRE, 0.180625 - q * q)
    r = np.sqrt(-log(np.minimum(p, 1.0 - p)))
    outer = np.where(r <= 5.0, _ratio(_SHOULDER, r - 1.6), _ratio(_TAIL, r - 5.0))
    return np.where(np.abs(q) <= 0.425, centre, np.where(q < 0.0, -outer, outer))


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Floats) -> Floats:
    top, bottom = np.zeros_like(x), np.zeros_like(x)
    for upper, lower in zip(*coefficients, strict=True):
        top = top * x + upper
        bottom = bottom * x + lower
    return top / bottom
