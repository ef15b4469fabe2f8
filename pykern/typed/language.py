"""Every function of the kernel language by its name: those that are made in loops get theirs here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.language import atomic_add as atomic_add
from pykern.language import atomic_and_ as atomic_and_
from pykern.language import atomic_compare_exchange as atomic_compare_exchange
from pykern.language import atomic_exchange as atomic_exchange
from pykern.language import atomic_max as atomic_max
from pykern.language import atomic_min as atomic_min
from pykern.language import atomic_or_ as atomic_or_
from pykern.language import atomic_sub as atomic_sub
from pykern.language import atomic_xor as atomic_xor
from pykern.language import barrier as barrier
from pykern.language import bitcast as bitcast
from pykern.language import cast as cast
from pykern.language import cdiv as cdiv
from pykern.language import clamp as clamp
from pykern.language import clz as clz
from pykern.language import e as e
from pykern.language import group_index as group_index
from pykern.language import group_reduce as group_reduce
from pykern.language import group_size as group_size
from pykern.language import index as index
from pykern.language import inf as inf
from pykern.language import lane_index as lane_index
from pykern.language import local_index as local_index
from pykern.language import maximum as maximum
from pykern.language import minimum as minimum
from pykern.language import nan as nan
from pykern.language import ndrange as ndrange
from pykern.language import num_groups as num_groups
from pykern.language import pi as pi
from pykern.language import popcount as popcount
from pykern.language import positions as positions
from pykern.language import print as print
from pykern.language import private as private
from pykern.language import shared as shared
from pykern.language import subgroup_broadcast as subgroup_broadcast
from pykern.language import subgroup_index as subgroup_index
from pykern.language import subgroup_reduce as subgroup_reduce
from pykern.language import subgroup_scan as subgroup_scan
from pykern.language import subgroup_shuffle as subgroup_shuffle
from pykern.language import subgroup_size as subgroup_size
from pykern.language import tau as tau
from pykern.language import tile as tile
from pykern.language import tiles as tiles
from pykern.language import unroll as unroll
from pykern.language import where as where
from pykern.language.array_functions import all as all
from pykern.language.array_functions import any as any
from pykern.language.array_functions import arange as arange
from pykern.language.array_functions import argmax as argmax
from pykern.language.array_functions import argmin as argmin
from pykern.language.array_functions import broadcast_to as broadcast_to
from pykern.language.array_functions import concatenate as concatenate
from pykern.language.array_functions import copy as copy
from pykern.language.array_functions import cumprod as cumprod
from pykern.language.array_functions import cumsum as cumsum
from pykern.language.array_functions import dot as dot
from pykern.language.array_functions import empty as empty
from pykern.language.array_functions import empty_like as empty_like
from pykern.language.array_functions import expand_dims as expand_dims
from pykern.language.array_functions import eye as eye
from pykern.language.array_functions import flip as flip
from pykern.language.array_functions import full as full
from pykern.language.array_functions import full_like as full_like
from pykern.language.array_functions import matmul as matmul
from pykern.language.array_functions import max as max
from pykern.language.array_functions import mean as mean
from pykern.language.array_functions import min as min
from pykern.language.array_functions import ones as ones
from pykern.language.array_functions import ones_like as ones_like
from pykern.language.array_functions import outer as outer
from pykern.language.array_functions import pad as pad
from pykern.language.array_functions import prod as prod
from pykern.language.array_functions import range as range
from pykern.language.array_functions import ravel as ravel
from pykern.language.array_functions import reshape as reshape
from pykern.language.array_functions import squeeze as squeeze
from pykern.language.array_functions import stack as stack
from pykern.language.array_functions import std as std
from pykern.language.array_functions import stop_gradient as stop_gradient
from pykern.language.array_functions import sum as sum
from pykern.language.array_functions import swapaxes as swapaxes
from pykern.language.array_functions import transpose as transpose
from pykern.language.array_functions import var as var
from pykern.language.array_functions import zeros as zeros
from pykern.language.array_functions import zeros_like as zeros_like
from pykern.language.numpy_functions import allclose as allclose
from pykern.language.numpy_functions import angle as angle
from pykern.language.numpy_functions import append as append
from pykern.language.numpy_functions import argpartition as argpartition
from pykern.language.numpy_functions import argsort as argsort
from pykern.language.numpy_functions import array_equal as array_equal
from pykern.language.numpy_functions import array_split as array_split
from pykern.language.numpy_functions import atleast_1d as atleast_1d
from pykern.language.numpy_functions import atleast_2d as atleast_2d
from pykern.language.numpy_functions import average as average
from pykern.language.numpy_functions import bincount as bincount
from pykern.language.numpy_functions import block as block
from pykern.language.numpy_functions import column_stack as column_stack
from pykern.language.numpy_functions import conj as conj
from pykern.language.numpy_functions import convolve as convolve
from pykern.language.numpy_functions import corrcoef as corrcoef
from pykern.language.numpy_functions import correlate as correlate
from pykern.language.numpy_functions import count_nonzero as count_nonzero
from pykern.language.numpy_functions import cov as cov
from pykern.language.numpy_functions import cross as cross
from pykern.language.numpy_functions import diag as diag
from pykern.language.numpy_functions import diagonal as diagonal
from pykern.language.numpy_functions import diff as diff
from pykern.language.numpy_functions import digitize as digitize
from pykern.language.numpy_functions import dstack as dstack
from pykern.language.numpy_functions import einsum as einsum
from pykern.language.numpy_functions import fliplr as fliplr
from pykern.language.numpy_functions import flipud as flipud
from pykern.language.numpy_functions import fmax as fmax
from pykern.language.numpy_functions import fmin as fmin
from pykern.language.numpy_functions import gradient as gradient
from pykern.language.numpy_functions import heaviside as heaviside
from pykern.language.numpy_functions import histogram as histogram
from pykern.language.numpy_functions import hsplit as hsplit
from pykern.language.numpy_functions import hstack as hstack
from pykern.language.numpy_functions import imag as imag
from pykern.language.numpy_functions import inner as inner
from pykern.language.numpy_functions import interp as interp
from pykern.language.numpy_functions import isclose as isclose
from pykern.language.numpy_functions import isin as isin
from pykern.language.numpy_functions import kron as kron
from pykern.language.numpy_functions import linspace as linspace
from pykern.language.numpy_functions import logaddexp as logaddexp
from pykern.language.numpy_functions import median as median
from pykern.language.numpy_functions import meshgrid as meshgrid
from pykern.language.numpy_functions import moveaxis as moveaxis
from pykern.language.numpy_functions import nan_to_num as nan_to_num
from pykern.language.numpy_functions import nanmax as nanmax
from pykern.language.numpy_functions import nanmean as nanmean
from pykern.language.numpy_functions import nanmin as nanmin
from pykern.language.numpy_functions import nanprod as nanprod
from pykern.language.numpy_functions import nansum as nansum
from pykern.language.numpy_functions import partition as partition
from pykern.language.numpy_functions import percentile as percentile
from pykern.language.numpy_functions import polyval as polyval
from pykern.language.numpy_functions import ptp as ptp
from pykern.language.numpy_functions import quantile as quantile
from pykern.language.numpy_functions import real as real
from pykern.language.numpy_functions import repeat as repeat
from pykern.language.numpy_functions import roll as roll
from pykern.language.numpy_functions import rot90 as rot90
from pykern.language.numpy_functions import searchsorted as searchsorted
from pykern.language.numpy_functions import select as select
from pykern.language.numpy_functions import signbit as signbit
from pykern.language.numpy_functions import sinc as sinc
from pykern.language.numpy_functions import sliding_window_view as sliding_window_view
from pykern.language.numpy_functions import sort as sort
from pykern.language.numpy_functions import split as split
from pykern.language.numpy_functions import take as take
from pykern.language.numpy_functions import take_along_axis as take_along_axis
from pykern.language.numpy_functions import tensordot as tensordot
from pykern.language.numpy_functions import trace as trace
from pykern.language.numpy_functions import trapezoid as trapezoid
from pykern.language.numpy_functions import tril as tril
from pykern.language.numpy_functions import triu as triu
from pykern.language.numpy_functions import vdot as vdot
from pykern.language.numpy_functions import vsplit as vsplit
from pykern.language.numpy_functions import vstack as vstack
from pykern.language.random_numbers import random as random
from pykern.language.random_numbers import random_bits as random_bits
from pykern.language.random_numbers import random_normal as random_normal

abs: Callable[..., Any]
acos: Callable[..., Any]
acosh: Callable[..., Any]
asin: Callable[..., Any]
asinh: Callable[..., Any]
atan: Callable[..., Any]
atan2: Callable[..., Any]
atanh: Callable[..., Any]
cbrt: Callable[..., Any]
ceil: Callable[..., Any]
copysign: Callable[..., Any]
cos: Callable[..., Any]
cosh: Callable[..., Any]
degrees: Callable[..., Any]
erf: Callable[..., Any]
erfc: Callable[..., Any]
exp: Callable[..., Any]
exp2: Callable[..., Any]
expm1: Callable[..., Any]
fabs: Callable[..., Any]
floor: Callable[..., Any]
fma: Callable[..., Any]
fmod: Callable[..., Any]
gamma: Callable[..., Any]
gcd: Callable[..., Any]
hypot: Callable[..., Any]
isfinite: Callable[..., Any]
isinf: Callable[..., Any]
isnan: Callable[..., Any]
isqrt: Callable[..., Any]
lgamma: Callable[..., Any]
log: Callable[..., Any]
log10: Callable[..., Any]
log1p: Callable[..., Any]
log2: Callable[..., Any]
nextafter: Callable[..., Any]
pow: Callable[..., Any]
radians: Callable[..., Any]
remainder: Callable[..., Any]
round: Callable[..., Any]
rsqrt: Callable[..., Any]
sign: Callable[..., Any]
sin: Callable[..., Any]
sinh: Callable[..., Any]
sqrt: Callable[..., Any]
square: Callable[..., Any]
tan: Callable[..., Any]
tanh: Callable[..., Any]
trunc: Callable[..., Any]
