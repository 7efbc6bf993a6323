//! Permissions of ordinary roles of a server, also with schemas, operators and functions of their own.

use keymark_testkit::assert_says;
use keymark_testkit::postgresql::Server;

use super::super::*;
use super::{of_somebody, replay};
use crate::exchange::share::Personal;
use crate::exchange::share::tests::SECRETS;
use keymark_bench::record::{Record, RunId};
use keymark_testkit::record::{head, mixed as record};

const ROLES: &str = include_str!("../../../../../deploy/postgresql/roles.sql");
const PEOPLE: &str = "CREATE ROLE jane LOGIN; CREATE ROLE john LOGIN; CREATE ROLE rita LOGIN;
    GRANT keymark_writer TO jane, john; GRANT keymark_reader TO rita";

fn open(server: &Server, role: &str) -> Archive {
    Archive::open(&server.address(role, "keymark")).unwrap()
}

/// A server with an archive and the roles of its users.
fn with_people() -> Server {
    let server = Server::start();
    drop(open(&server, "owner"));
    for statements in [ROLES, PEOPLE] {
        server.psql("keymark", statements).unwrap();
    }
    server
}

#[test]
fn who_is_told_whose_runs_are_is_their_writer_and_the_owner() {
    let server = with_people();
    let open = |role: &str| open(&server, role);
    let names = || {
        let hosts = ["janes-laptop", "signer-of-acme"].map(str::to_owned);
        let users = ["jane", "bob", "carol"].map(str::to_owned);
        let users = users.into_iter().map(Personal::User);
        hosts.into_iter().map(Personal::Host).chain(users).collect()
    };
    let whole = of_somebody();
    let mut jane = open("jane");
    jane.set_identity(Identity::Kept, names);
    let mut writer = jane.begin(&head(&whole)).unwrap();
    replay(&mut writer, &whole);
    writer.finish(whole.state).unwrap();
    let hidden = Record {
        id: RunId("hidden".to_owned()),
        ..whole.clone()
    };
    jane.set_identity(Identity::Hidden, names);
    jane.insert(&hidden).unwrap();
    let loaded =
        |archive: &Archive, run: &Record| archive.load(&RunSelector::Id(run.id.0.clone())).unwrap();
    for role in ["jane", "owner"] {
        assert_eq!(loaded(&open(role), &whole), whole, "{role}");
    }
    for (role, run) in [
        ("john", &whole),
        ("rita", &whole),
        ("owner", &hidden),
        ("jane", &hidden),
    ] {
        let common = loaded(&open(role), run);
        let text = serde_json::to_string(&common).unwrap().to_lowercase();
        // The machine's label stays.
        for secret in SECRETS.iter().filter(|secret| **secret != "signer-of-acme") {
            assert!(
                !text.contains(&secret.to_lowercase()),
                "{role} reads {secret}"
            );
        }
        assert_eq!(common.environment.machine, run.environment.machine);
        assert_eq!(common.cases[0].blocks, run.cases[0].blocks);
    }
    others_may_read_and_nothing_else(&server);
}

fn others_may_read_and_nothing_else(server: &Server) {
    let john = |statement: &str| server.psql_as("john", "keymark", statement);
    assert_eq!(
        john("SELECT count(*) FROM keymark.identity").as_deref(),
        Some("0")
    );
    assert_eq!(john("UPDATE keymark.archive SET version = 2"), None);
    let kept = open(server, "john")
        .remove(&RunId("hidden".to_owned()))
        .unwrap_err();
    assert_says(&kept, ["another role's"]);
    let mut rita = open(server, "rita");
    assert_eq!(rita.runs().unwrap().len(), 2);
    let refused = rita.begin(&head(&record("r"))).unwrap_err();
    assert_says(&refused, ["permission denied", "ask its administrator"]);
}

/// A schema of the role's own, with operators and functions for everything that rules could ask.
fn with_own_operators(server: &Server, role: &str) {
    let mut statements = format!(
        "CREATE SCHEMA {role} AUTHORIZATION {role}; GRANT CREATE ON DATABASE keymark TO {role}; SET ROLE {role}; SET search_path = {role};"
    );
    for (left, right) in [
        ("text", "text"),
        ("name", "name"),
        ("text", "name"),
        ("name", "text"),
        ("bigint", "bigint"),
    ] {
        statements += &format!(
            "CREATE FUNCTION yes({left}, {right}) RETURNS boolean LANGUAGE sql RETURN true;
             CREATE OPERATOR = (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = yes);"
        );
    }
    statements += "CREATE FUNCTION much(bigint, bigint) RETURNS bigint LANGUAGE sql RETURN 7777;
        CREATE OPERATOR + (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = much);
        CREATE FUNCTION owns(text) RETURNS boolean LANGUAGE sql RETURN true;
        CREATE FUNCTION owns(bigint) RETURNS boolean LANGUAGE sql RETURN true;
        CREATE FUNCTION strpos(text, text) RETURNS integer LANGUAGE sql RETURN 1;
        CREATE TABLE run AS SELECT id, current_user AS writer FROM keymark.run;
        CREATE TABLE case_ AS SELECT id, run FROM keymark.case_;
        CREATE TABLE block AS SELECT id, case_ FROM keymark.block";
    let done = server.psql("keymark", &statements);
    assert!(done.is_some(), "{statements}");
}

/// All that is stored of a run.
fn content(server: &Server, run: &str) -> String {
    let of_case = format!("(SELECT id FROM keymark.case_ WHERE run = '{run}')");
    let of_block = format!("(SELECT id FROM keymark.block WHERE case_ IN {of_case})");
    let rows = [
        ("run", format!("id = '{run}'")),
        ("case_", format!("run = '{run}'")),
        ("server_load", format!("case_ IN {of_case}")),
        ("block", format!("case_ IN {of_case}")),
        ("sample", format!("block IN {of_block}")),
        ("identity", format!("run = '{run}'")),
    ]
    .map(|(table, of)| {
        format!("SELECT '{table} ' || its::text AS row FROM keymark.{table} its WHERE {of}")
    });
    let all = format!(
        "SELECT row FROM ({}) its ORDER BY 1",
        rows.join(" UNION ALL ")
    );
    let all = server.psql("keymark", &all).unwrap();
    for table in ["run", "case_", "server_load", "block", "sample", "identity"] {
        assert!(
            all.lines().any(|line| line.starts_with(table)),
            "{table} has nothing of {run}"
        );
    }
    all
}

/// Attempts of a role on the run of another. The last one removes its own runs.
const TRIED: [&str; 26] = [
    "INSERT INTO keymark.block (case_, round, samples, done, done_ns, sum)
     SELECT id, 9, 5, 5, 5, '' FROM keymark.case_ WHERE run OPERATOR(pg_catalog.=) 'OWN'",
    "INSERT INTO keymark.block (case_, round, samples, done, done_ns, sum)
     SELECT id, 9, 5, 5, 5, '' FROM keymark.case_ WHERE run OPERATOR(pg_catalog.=) 'RUN'",
    "INSERT INTO keymark.case_ (run, number, \"case\", sum)
     SELECT run, 99, \"case\", '' FROM keymark.case_ WHERE run OPERATOR(pg_catalog.=) 'RUN'",
    "INSERT INTO keymark.sample SELECT block.id, 99, 0, 0, 0, 0, 0 FROM keymark.block JOIN keymark.case_
     ON case_.id OPERATOR(pg_catalog.=) block.case_ WHERE run OPERATOR(pg_catalog.=) 'RUN'",
    "INSERT INTO keymark.server_load SELECT id, '{\"totals\": {\"transactions\": 1}}' FROM keymark.case_
     WHERE run OPERATOR(pg_catalog.=) 'RUN' ON CONFLICT (case_) DO UPDATE SET load = excluded.load",
    "INSERT INTO keymark.identity (run, part, whole) VALUES ('RUN', -1, '{}')
     ON CONFLICT (run, part) DO UPDATE SET whole = excluded.whole",
    "INSERT INTO keymark.identity (run, part, whole) VALUES ('RUN', 77, '{}')",
    "UPDATE keymark.run SET state = 'unfinished' WHERE id OPERATOR(pg_catalog.=) 'RUN'",
    "UPDATE keymark.run SET state = 'unfinished'",
    "UPDATE keymark.run SET writer = current_user",
    "UPDATE keymark.case_ SET ending = NULL, operations = 0",
    "UPDATE keymark.case_ SET run = 'RUN'",
    "UPDATE keymark.server_load SET load = '{}'",
    "UPDATE keymark.block SET done = 0",
    "UPDATE keymark.sample SET end_ns = 0",
    "UPDATE keymark.identity SET whole = '{}'",
    "DELETE FROM keymark.case_",
    "DELETE FROM keymark.sample",
    "DELETE FROM keymark.identity",
    "TRUNCATE keymark.run CASCADE",
    "ALTER TABLE keymark.run DISABLE ROW LEVEL SECURITY",
    "CREATE OR REPLACE FUNCTION keymark.owns(its_run text) RETURNS boolean LANGUAGE sql RETURN true",
    "SET session_replication_role = replica; INSERT INTO keymark.sample SELECT min(id), 99, 0, 0, 0, 0, 0 FROM keymark.block",
    "CREATE TRIGGER mine AFTER INSERT ON keymark.run EXECUTE FUNCTION keymark.count_samples()",
    "SET ROLE owner; DELETE FROM keymark.run",
    "DELETE FROM keymark.run",
];

#[test]
fn who_has_operators_of_their_own_changes_no_run_of_others() {
    let server = with_people();
    let whole = |role: &str| Record {
        id: RunId(format!("of-{role}")),
        ..of_somebody()
    };
    let insert = |role: &str| {
        let mut archive = open(&server, role);
        archive.set_identity(Identity::Kept, Vec::new);
        archive.insert(&whole(role)).unwrap();
    };
    let roles = ["jane", "john"];
    for role in roles {
        insert(role);
    }
    for role in roles {
        with_own_operators(&server, role);
    }
    for (role, other) in [("jane", "john"), ("john", "jane")] {
        let run = format!("of-{other}");
        let before = content(&server, &run);
        for tried in TRIED {
            let tried = tried
                .replace("RUN", &run)
                .replace("OWN", &format!("of-{role}"));
            for path in [format!("{role}, keymark, pg_catalog"), "keymark".to_owned()] {
                let tried = format!("SET search_path = {path}; {tried}");
                server.psql_as(role, "keymark", &tried);
                assert_eq!(content(&server, &run), before, "{role}: {tried}");
            }
        }
        let read = format!(
            "SET search_path = {role}, keymark, pg_catalog; SELECT count(*) FROM keymark.identity WHERE writer OPERATOR(pg_catalog.<>) '{role}'"
        );
        assert_eq!(server.psql_as(role, "keymark", &read).as_deref(), Some("0"));
        // The other's is there as it was, and the own one again.
        insert(role);
    }
    for role in roles {
        let own = RunSelector::Id(format!("of-{role}"));
        assert_eq!(open(&server, role).load(&own).unwrap(), whole(role));
    }
}

/// With CREATE on the database, any role can make the archive's schema before its owner does.
#[test]
fn an_archive_that_another_role_made_is_refused() {
    let server = Server::start();
    let roles = "CREATE ROLE mallory LOGIN; CREATE ROLE jane LOGIN; GRANT CREATE ON DATABASE keymark TO mallory";
    server.psql("keymark", roles).unwrap();
    let open = |role: &str| Archive::open(&server.address(role, "keymark"));
    drop(open("mallory").unwrap());
    let offered = "GRANT USAGE ON SCHEMA keymark TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA keymark TO PUBLIC";
    server.psql_as("mallory", "keymark", offered).unwrap();
    let refused = |role: &str| {
        let error = open(role).unwrap_err();
        assert_says(&error, ["belongs to role 'mallory'"]);
    };
    refused("jane");
    refused("owner");
    // The tables are still mallory's.
    let ask = |statement| server.psql("keymark", statement).unwrap();
    ask("ALTER SCHEMA keymark OWNER TO owner");
    refused("jane");
    ask("DROP SCHEMA keymark CASCADE");
    open("owner").unwrap();
}

#[test]
fn no_function_takes_its_operators_from_who_calls_it() {
    let server = Server::start();
    drop(open(&server, "owner"));
    let all = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'keymark'::regnamespace";
    let open = format!(
        "{all} AND prosqlbody IS NULL AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)"
    );
    assert_eq!(server.psql("keymark", &open).as_deref(), Some("0"));
    assert_ne!(server.psql("keymark", all).as_deref(), Some("0"));
}

#[test]
fn an_odd_run_of_one_writer_hides_no_run_of_others() {
    let server = with_people();
    let mut jane = open(&server, "jane");
    jane.insert(&record("good")).unwrap();
    let run = |id: &str, started: &str, state: &str| {
        format!(
            "INSERT INTO keymark.run (id, started_utc, state, keymark, schema, plan, environment, stores, sum)
             VALUES ('{id}', '{started}', '{state}', '', 1, '{{}}', '{{}}', '[]', '')"
        )
    };
    let day = "2026-01-01T00:00:00.000000000Z";
    let john = |statement: &str| server.psql_as("john", "keymark", statement);
    for refused in [
        run("a b", day, "finished"),
        run("..", day, "finished"),
        run("odd", "tomorrow", "finished"),
        run("odd", day, "done"),
    ] {
        assert_eq!(john(&refused), None, "{refused}");
    }
    // In the form of a time, and none.
    let never = day.replace("01-01", "99-99");
    for taken in [
        run("odd", day, "finished"),
        run("never", &never, "finished"),
    ] {
        assert!(john(&taken).is_some(), "{taken}");
    }
    let case = r#"{"device": "d", "algorithm": "rsa9999", "operation": "sign", "replica": 0}"#;
    let case = format!(
        "INSERT INTO keymark.case_ (run, number, \"case\", sum) VALUES ('odd', 0, '{case}', '')"
    );
    assert!(john(&case).is_some());
    let listed = jane.runs().unwrap();
    let listed = listed.iter().map(|run| (&*run.id.0, &*run.algorithms));
    let listed: Vec<(&str, &[String])> = listed.collect();
    assert_eq!(listed.len(), 2, "{listed:?}");
    let of = |id: &str| listed.iter().find(|run| run.0 == id).map(|run| run.1);
    assert_eq!(of("odd"), Some(&["rsa9999".to_owned()][..]));
    assert!(of("good").is_some());
    assert!(!jane.newest_of_each(1, |_| true).unwrap().is_empty());
    assert!(!jane.last_means().unwrap().is_empty());
    let unreadable = jane.unreadable();
    let unreadable: Vec<String> = unreadable.iter().map(ToString::to_string).collect();
    assert_eq!(unreadable.len(), 1, "{unreadable:?}");
    assert_says(&unreadable.join("\n"), ["run never of archive"]);
    let odd = jane.load(&"odd".parse().unwrap()).unwrap_err();
    assert_says(&odd, ["run odd of archive"]);
    assert_eq!(jane.load(&"good".parse().unwrap()).unwrap(), record("good"));
}
