-- What calculates with keys in memory, other than the OpenSSL that is built in.
ALTER TABLE case_ ADD COLUMN library TEXT; -- libgcrypt; NULL: that OpenSSL, or no library of this process
-- What a fixed calculation of this processor took around the block, in nanoseconds: how fast the machine was.
ALTER TABLE block ADD COLUMN reference_ns INTEGER;
-- A run's place in a series: several runs of one plan, made by one call. All NULL for a run of its own.
ALTER TABLE run ADD COLUMN series TEXT;             -- name of the series
ALTER TABLE run ADD COLUMN series_number INTEGER;   -- from 0
ALTER TABLE run ADD COLUMN series_runs INTEGER;     -- how many it was to have
ALTER TABLE run ADD COLUMN series_pause_ns INTEGER; -- what was waited before this one
ALTER TABLE run ADD COLUMN series_against TEXT;     -- name of the series that it alternates with
CREATE INDEX run_by_series ON run (series);
