#!/usr/bin/env python3
"""Segmentations by an independent implementation of PELT, to compare src/change_points.rs with.

    pip install ruptures==1.1.10 && ./segmentations.py > segmentations.csv

Each line: penalty; values; first points of the segments behind the first one.
"""

import numpy
import ruptures

random = numpy.random.default_rng(20171)
for number in range(200):
    n = int(random.integers(8, 90))
    values = random.normal(0, 1, size=n)
    for start in random.integers(0, n, size=int(random.integers(0, 5))):
        values[start:] += random.normal(0, 3)
    values[random.random(n) < 0.05] *= 8
    # As they are written, so that both rank the same numbers.
    values = numpy.array([float(f"{value:.6f}") for value in values])
    penalty = float(f"{random.uniform(2, 20):.3f}")
    ranks = numpy.argsort(numpy.argsort(values, kind="stable"), kind="stable").astype(float)
    ranks = (ranks - ranks.mean()) / ranks.std()
    assert len(set(values)) == n, "no ties: ranks are those of any method"
    found = ruptures.Pelt(model="l2", min_size=3, jump=1).fit(ranks).predict(pen=penalty)
    # The last end is the series' own.
    starts = " ".join(str(end) for end in found[:-1])
    print(f"{penalty};{' '.join(f'{value:.6f}' for value in values)};{starts}")
