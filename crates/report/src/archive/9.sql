-- One row a timed operation, with what it was. Each column says whose it is: tables have columns of one name.
DROP VIEW latency;
CREATE VIEW latency AS
SELECT case_.run, case_.number AS "case", case_.device, case_.provenance, case_.algorithm, case_.operation, case_.stack,
       case_.library, case_.scheme, case_.ssh_agent, case_.openssl_way, case_.concurrency, case_.worker AS worker_kind,
       case_.rate, case_.think_s, case_.protection, case_.input_bytes, case_.replica,
       block.id AS block, block.round, sample.worker, sample.scheduled_ns, sample.start_ns, sample.end_ns,
       (sample.end_ns - sample.scheduled_ns) / 1e9 AS latency_s, sample.outcome, sample.user_us, sample.system_us
FROM sample JOIN block ON block.id = sample.block JOIN case_ ON case_.id = block.case_;
