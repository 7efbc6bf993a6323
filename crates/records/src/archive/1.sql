-- The archive of runs, version 1. Times are nanoseconds on the run's own clock, which starts at 0.
-- For questions by hand, begin with the view `latency`:
--   SELECT algorithm, avg(latency_s) FROM latency WHERE run = '…' AND outcome = 0 GROUP BY 1;

-- One row a run.
CREATE TABLE run (
    -- UTC date and time with a suffix, or the name of an import.
    id              TEXT PRIMARY KEY CHECK (id <> '' AND id NOT GLOB '*[^A-Za-z0-9-]*'),
    -- RFC 3339 with nine decimals, so that text order is time order.
    started_utc     TEXT NOT NULL CHECK (started_utc GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*.[0-9]*Z'),
    state           TEXT NOT NULL CHECK (state IN ('unfinished', 'finished', 'interrupted', 'published')),
    keymark         TEXT NOT NULL,      -- version that measured; empty for published figures
    schema          INTEGER NOT NULL,   -- version of the record, as in an export
    plan            TEXT NOT NULL,      -- JSON, as in an export
    environment     TEXT NOT NULL,      -- JSON, as in an export
    harness         TEXT,               -- JSON, as in an export; NULL until measuring began
    stores          TEXT NOT NULL,      -- JSON, as in an export
    in_series       TEXT,               -- JSON, as in an export: its place among several runs of one plan; NULL outside
    series          TEXT GENERATED ALWAYS AS (in_series ->> 'id'),
    series_number   INTEGER GENERATED ALWAYS AS (in_series ->> 'number'),
    sum             TEXT NOT NULL       -- checksum of the columns above (rows.rs): a flipped bit is found
) STRICT, WITHOUT ROWID;

-- Lists read this alone: the rows are long. A column that is generated is always read from its row.
CREATE INDEX run_by_start ON run (started_utc, id, state);
CREATE INDEX run_by_series ON run (series);

-- One row a case ("case" is a word of SQL).
CREATE TABLE case_ (
    id               INTEGER PRIMARY KEY,
    run              TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    number           INTEGER NOT NULL,  -- place in the plan, from 0
    "case"           TEXT NOT NULL,     -- JSON, as in an export
    device           TEXT NOT NULL GENERATED ALWAYS AS ("case" ->> 'device') STORED,
    algorithm        TEXT NOT NULL GENERATED ALWAYS AS ("case" ->> 'algorithm') STORED,
    operation        TEXT NOT NULL GENERATED ALWAYS AS ("case" ->> 'operation'),
    replica          INTEGER NOT NULL GENERATED ALWAYS AS ("case" ->> 'replica'),
    ending           TEXT,              -- JSON, as in an export: what stopped it, and why it failed; NULL: under way
    stopped          TEXT GENERATED ALWAYS AS (ending ->> 'stopped'),
    reason           TEXT GENERATED ALWAYS AS (ending ->> 'reason'),
    published        TEXT,              -- JSON, as in an export: published figures and predictions, in place of samples
    published_mean_s REAL GENERATED ALWAYS AS (published ->> 'mean'),
    parts            TEXT,              -- where the time of operations went, if measured: JSON, as in an export
    operations       INTEGER NOT NULL DEFAULT 0, -- samples so far, or transactions of a load: kept by triggers
    sum              TEXT NOT NULL,     -- checksum of the JSON columns and the load
    UNIQUE (run, number)
) STRICT;

-- What a load on a server has shown, in place of samples.
CREATE TABLE server_load (
    case_ INTEGER PRIMARY KEY REFERENCES case_ (id) ON DELETE CASCADE,
    load  TEXT NOT NULL                 -- JSON, as in an export
) STRICT;

CREATE TRIGGER transactions AFTER INSERT ON server_load BEGIN
    UPDATE case_ SET operations = new.load ->> '$.totals.transactions' WHERE id = new.case_;
END;

-- One row a block: a contiguous stretch of one case's samples. Written whole, with its samples.
-- Identifiers grow with time, so samples are only ever appended, and a case's blocks are in order.
CREATE TABLE block (
    id           INTEGER PRIMARY KEY,
    case_        INTEGER NOT NULL REFERENCES case_ ON DELETE CASCADE,
    round        INTEGER NOT NULL,      -- blocks of one round are neighbors in time
    samples      INTEGER NOT NULL,      -- number of rows in `sample`
    done         INTEGER NOT NULL,      -- of these, that were done rightly
    done_ns      INTEGER NOT NULL,      -- their latencies together
    -- What a block of an open loop covers of its queue's time, which stops between blocks; NULL for others.
    length_ns    INTEGER,
    waiting      INTEGER,               -- arrivals that nobody had begun with at its end
    -- What a fixed calculation of this processor took around the block: how fast the machine was.
    reference_ns INTEGER,
    sum          TEXT NOT NULL          -- checksum of the block with its samples
) STRICT;

CREATE INDEX block_by_case ON block (case_, done, done_ns);

CREATE TRIGGER samples AFTER INSERT ON block BEGIN
    UPDATE case_ SET operations = operations + new.samples WHERE id = new.case_;
END;

-- One row a timed operation.
CREATE TABLE sample (
    block        INTEGER NOT NULL REFERENCES block ON DELETE CASCADE,
    number       INTEGER NOT NULL,      -- place in the block, from 0
    worker       INTEGER NOT NULL,      -- from 0
    scheduled_ns INTEGER NOT NULL,      -- when it was due: latency counts from here
    start_ns     INTEGER NOT NULL,
    end_ns       INTEGER NOT NULL,
    outcome      INTEGER NOT NULL CHECK (outcome IN (0, 1, 2)), -- 0 done, 1 failed, 2 wrong result
    user_us      INTEGER,               -- processor time of the child process, where there was one
    system_us    INTEGER,
    PRIMARY KEY (block, number)
) STRICT, WITHOUT ROWID;

-- Runs that wait for a team's archive are here as there: without serial numbers and names. What had some is in this table
-- as it was, if it is to be kept. Otherwise it is empty.
CREATE TABLE identity (
    run   TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    part  INTEGER NOT NULL,             -- the number of the case; -1: the record without its cases
    whole TEXT NOT NULL,                -- JSON, as in an export, without blocks
    PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;

-- One row a timed operation, with what it was. `parameters` is a JSON object of what its stack distinguishes, such as
-- {"protection":"cached"}: parameters ->> 'protection'.
CREATE VIEW latency AS
SELECT case_.run, case_.number AS "case", case_.device, case_."case" ->> 'provenance' AS provenance, case_.algorithm,
       case_.operation, case_."case" ->> 'stack' AS stack, case_."case" -> 'parameters' AS parameters,
       case_."case" ->> '$.load.workers' AS workers, case_."case" ->> '$.load.worker' AS worker_kind,
       case_."case" ->> '$.load.pacing.open' AS rate,
       (case_."case" ->> '$.load.pacing.thinking.secs') + (case_."case" ->> '$.load.pacing.thinking.nanos') / 1e9 AS think_s,
       case_."case" ->> 'input_bytes' AS input_bytes, case_.replica, block.id AS block, block.round, sample.worker,
       sample.scheduled_ns, sample.start_ns, sample.end_ns,
       (sample.end_ns - sample.scheduled_ns) / 1e9 AS latency_s, sample.outcome, sample.user_us, sample.system_us
FROM sample JOIN block ON block.id = sample.block JOIN case_ ON case_.id = block.case_;
