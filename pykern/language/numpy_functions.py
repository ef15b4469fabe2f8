"""NumPy's functions beside those of `array_functions`, with its signatures: NumPy itself is the reference.

An array program may call each of them by either name, ``np.roll`` or ``pk.roll``. By NumPy's name alone it calls
``np.linalg.norm``, functions that are operators of Python, as ``np.add``, and the methods of ufuncs, as ``np.add.at``.
Keywords of NumPy that a program does not take are refused at their line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from pykern.language.builtin import builtin

__all__: list[str] = []
PATHS: dict[str, str] = {}
"""Where NumPy has each, and its name."""


def _of_numpy(path: str, text: str) -> Callable[..., Any]:
    def function(*args: Any, **keywords: Any) -> Any:
        import numpy

        return operator.attrgetter(path)(numpy)(*args, **keywords)

    name = path.rpartition(".")[2]
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = text
    __all__.append(name)
    PATHS[path] = name
    return builtin(function)


# -- complex numbers ---------------------------------------------------------------------------------

real = _of_numpy("real", "The real part.")
imag = _of_numpy("imag", "The imaginary part; zeros of a real array.")
conj = _of_numpy("conj", "The conjugate: the imaginary part with the other sign.")
angle = _of_numpy("angle", "The angle of a complex number in radians, from -pi to pi.")

# -- rearranging -------------------------------------------------------------------------------------

roll = _of_numpy(
    "roll",
    "Elements moved along an axis; those that leave it at one end come in at the other; shifts may come at run time.",
)
take = _of_numpy(
    "take",
    "The elements that indices name, along an axis or in the flattened array; an index outside is brought to the edge.",
)
take_along_axis = _of_numpy("take_along_axis", "Of each row the elements that its own row of indices names.")
repeat = _of_numpy("repeat", "Each element, or each part along an axis, several times in a row.")
diff = _of_numpy("diff", "Differences of neighbours along an axis, `n` times over.")
moveaxis = _of_numpy("moveaxis", "`x` with axes moved to other places.")
rot90 = _of_numpy("rot90", "A plane turned by quarters, from its first axis towards its second.")
fliplr = _of_numpy("fliplr", "The second axis in the opposite order.")
flipud = _of_numpy("flipud", "The first axis in the opposite order.")
atleast_1d = _of_numpy("atleast_1d", "`x` with at least one dimension.")
atleast_2d = _of_numpy("atleast_2d", "`x` with at least two dimensions; new ones stand in front.")
append = _of_numpy("append", "Values behind an array, along an axis or flattened.")
meshgrid = _of_numpy(
    "meshgrid", "Coordinates of the points of a grid, one array for each vector that is given."
)
hstack = _of_numpy("hstack", "Arrays side by side: along the second axis, vectors along their only one.")
vstack = _of_numpy("vstack", "Arrays one below the other; a vector is a row.")
dstack = _of_numpy("dstack", "Arrays one behind the other, along the third axis.")
column_stack = _of_numpy("column_stack", "Columns side by side; a vector is a column.")
split = _of_numpy("split", "A tuple of equal parts of an axis, or of the parts between indices.")
array_split = _of_numpy("array_split", "As `split`, and the parts need not be equal.")
hsplit = _of_numpy("hsplit", "As `split`, along the second axis.")
vsplit = _of_numpy("vsplit", "As `split`, along the first axis.")
block = _of_numpy("block", "Nested lists of blocks put together; the innermost stand along the last axis.")
diagonal = _of_numpy("diagonal", "The diagonal of the first two axes; `offset` counts to the right.")
diag = _of_numpy("diag", "The diagonal of a matrix; a matrix with a vector on its diagonal.")
trace = _of_numpy("trace", "The sum of the diagonal.")
triu = _of_numpy("triu", "Zeros below the diagonal `k`.")
tril = _of_numpy("tril", "Zeros above the diagonal `k`.")

# -- sums and norms ----------------------------------------------------------------------------------

count_nonzero = _of_numpy("count_nonzero", "How many elements are other than zero.")
ptp = _of_numpy("ptp", "The greatest element less the least.")
average = _of_numpy("average", "The mean, weighted where weights are given.")
nansum = _of_numpy("nansum", "The sum of what is not NaN.")
nanprod = _of_numpy("nanprod", "The product of what is not NaN.")
nanmax = _of_numpy("nanmax", "The greatest of what is not NaN; NaN where all is.")
nanmin = _of_numpy("nanmin", "The least of what is not NaN; NaN where all is.")
nanmean = _of_numpy("nanmean", "The mean of what is not NaN.")
nan_to_num = _of_numpy(
    "nan_to_num",
    "NaN becomes 0, infinities the greatest and the least number, unless others are given.",
)
isclose = _of_numpy("isclose", "Whether ``|a - b| <= atol + rtol * |b|``, for each element.")
allclose = _of_numpy("allclose", "Whether all elements are close, as `isclose` says.")
array_equal = _of_numpy("array_equal", "Whether shapes and all elements are equal.")
isin = _of_numpy("isin", "Whether each element is one of those given.")

# -- products ----------------------------------------------------------------------------------------

einsum = _of_numpy(
    "einsum",
    "Products summed over named axes: ``pk.einsum('ij,jk->ik', a, b)``; several arrays are multiplied from the left.",
)
tensordot = _of_numpy(
    "tensordot",
    "Products summed over the last axes of one array and the first ones of the other, or over axes that are given.",
)
inner = _of_numpy("inner", "Products summed over the last axis of both.")
vdot = _of_numpy("vdot", "The sum of all products, both flattened.")
kron = _of_numpy("kron", "The Kronecker product.")
cross = _of_numpy("cross", "The cross product of vectors with three elements.")

# -- numerical work ----------------------------------------------------------------------------------

linspace = _of_numpy("linspace", "`num` numbers from `start` to `stop`, in equal steps.")
gradient = _of_numpy(
    "gradient", "Central differences along the axes, one-sided at the ends; spacings are numbers."
)
trapezoid = _of_numpy("trapezoid", "The integral along an axis by trapezoids.")
searchsorted = _of_numpy("searchsorted", "Where values stand in a sorted vector.")
select = _of_numpy(
    "select",
    "Of each element the value whose condition is the first that holds; the default where none does.",
)
polyval = _of_numpy("polyval", "A polynomial at `x`; the coefficient of the highest power comes first.")
interp = _of_numpy("interp", "Linear interpolation between points whose `xp` rise.")
logaddexp = _of_numpy("logaddexp", "``log(exp(a) + exp(b))``, without overflow.")
fmax = _of_numpy("fmax", "The greater of two, and the other one of a number and NaN.")
fmin = _of_numpy("fmin", "The smaller of two, and the other one of a number and NaN.")
signbit = _of_numpy("signbit", "Whether a number is below zero, or the zero that is.")
heaviside = _of_numpy("heaviside", "0 below zero, 1 above, and the second argument at zero.")
sinc = _of_numpy("sinc", "``sin(pi x) / (pi x)``, and 1 at 0.")

# -- order -------------------------------------------------------------------------------------------

sort = _of_numpy(
    "sort", "The elements in order along an axis, NaN last; without an axis, of the flattened array."
)
argsort = _of_numpy("argsort", "The places of the elements in their order; equal ones keep theirs.")
partition = _of_numpy(
    "partition", "The element `kth` in its place, smaller ones before it, greater ones behind."
)
argpartition = _of_numpy("argpartition", "The places of the elements that `partition` gives.")
median = _of_numpy("median", "The middle of the elements in order, or the mean of the two in the middle.")
quantile = _of_numpy(
    "quantile", "The element below which a share `q` of all stands; between two of them as `method` says."
)
percentile = _of_numpy("percentile", "As `quantile`, of a share in percent.")

# -- windows, bins, statistics -----------------------------------------------------------------------

sliding_window_view = _of_numpy(
    "lib.stride_tricks.sliding_window_view",
    "The elements of each window of an axis; the axes of windows come last.",
)
convolve = _of_numpy(
    "convolve", "The convolution of two vectors: all of it, as long as the longer, or the whole windows."
)
correlate = _of_numpy("correlate", "Sums of products of a vector and another that is moved along it.")
histogram = _of_numpy(
    "histogram", "How many elements are in each bin, or the sum of their weights; and the edges of bins."
)
bincount = _of_numpy(
    "bincount",
    "How often each integer from 0 on occurs, or the sum of its weights. In a program there are `minlength` bins: give "
    "it, and what is greater is not counted.",
)
digitize = _of_numpy("digitize", "The bin of each element, among edges that rise or fall.")
cov = _of_numpy("cov", "The covariances of variables, which are rows.")
corrcoef = _of_numpy(
    "corrcoef", "The correlations of variables, which are rows: covariances over deviations."
)
