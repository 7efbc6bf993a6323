-- The archive of runs, version 1. Times are nanoseconds on the run's own clock, which starts at 0.
-- For questions by hand, begin with the view `latency`:
--   SELECT algorithm, avg(latency_s) FROM latency WHERE run = '…' AND outcome = 0 GROUP BY 1;

-- One row a run.
CREATE TABLE run (
    id          TEXT PRIMARY KEY,   -- UTC date and time with a suffix, or the name of an import
    started_utc TEXT NOT NULL,      -- RFC 3339 with nine decimals, so that text order is time order
    state       TEXT NOT NULL,      -- unfinished, finished, interrupted, published
    keymark     TEXT NOT NULL,      -- version that measured; empty for published figures
    schema      INTEGER NOT NULL,   -- version of the record, as in an export
    plan        TEXT NOT NULL,      -- JSON, as in an export
    environment TEXT NOT NULL,      -- JSON, as in an export
    harness     TEXT,               -- JSON, as in an export; NULL until measuring began
    stores      TEXT NOT NULL       -- JSON, as in an export
) STRICT, WITHOUT ROWID;

CREATE INDEX run_by_start ON run (started_utc);

-- One row a case ("case" is a word of SQL). The column `"case"` is the truth, the plain ones repeat it.
CREATE TABLE case_ (
    id               INTEGER PRIMARY KEY,
    run              TEXT NOT NULL REFERENCES run ON DELETE CASCADE,
    number           INTEGER NOT NULL,  -- place in the plan, from 0
    "case"           TEXT NOT NULL,     -- JSON, as in an export
    device           TEXT NOT NULL,
    store            TEXT NOT NULL,
    provenance       TEXT NOT NULL,     -- measured, virtual, twin, predicted, published
    algorithm        TEXT NOT NULL,
    operation        TEXT NOT NULL,
    stack            TEXT NOT NULL,
    concurrency      INTEGER NOT NULL,
    protection       TEXT NOT NULL,
    input_bytes      INTEGER NOT NULL,
    replica          INTEGER NOT NULL,
    stopped          TEXT,              -- rule_met, out_of_time, interrupted, failed; NULL: under way
    reason           TEXT,              -- why, if it failed
    published_mean_s REAL,              -- for published figures, in place of samples
    published_n      INTEGER,           -- operations behind that mean, if stated
    published_note   TEXT,              -- the source's remarks
    UNIQUE (run, number)
) STRICT;

-- One row a block: a contiguous stretch of one case's samples. Written whole, with its samples.
-- Identifiers grow with time, so samples are only ever appended, and a case's blocks are in order.
CREATE TABLE block (
    id      INTEGER PRIMARY KEY,
    case_   INTEGER NOT NULL REFERENCES case_ ON DELETE CASCADE,
    round   INTEGER NOT NULL,           -- blocks of one round are neighbours in time
    samples INTEGER NOT NULL            -- number of rows in `sample`
) STRICT;

CREATE INDEX block_by_case ON block (case_);

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

-- One row a timed operation, with what it was.
CREATE VIEW latency AS
SELECT case_.run, case_.number AS "case", device, provenance, algorithm, operation, stack, concurrency,
       protection, input_bytes, replica, block.id AS block, round, worker,
       scheduled_ns, start_ns, end_ns, (end_ns - scheduled_ns) / 1e9 AS latency_s, outcome, user_us, system_us
FROM sample JOIN block ON block.id = sample.block JOIN case_ ON case_.id = block.case_;
