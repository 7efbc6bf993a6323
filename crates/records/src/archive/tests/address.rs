use super::*;

fn with<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    move |name| {
        let found = pairs.iter().find(|(known, _)| *known == name)?;
        Some(found.1.to_owned())
    }
}

fn address(name: &str, variables: &[(&str, &str)]) -> Result<Address, ArchiveError> {
    Address::new(name, &with(variables))
}

/// Addresses, each with how its server is spoken to.
const SECURED: &str = "\
postgresql://jane@db.example/team => Require AuthorityAndName
postgresql://db.example/team?sslmode=verify-ca => Require Authority
postgresql://db.example/team?sslmode=require => Require Nothing
postgres://db.example/team?sslmode=disable => Disable Nothing
postgresql://127.0.0.1/team => Disable Nothing
postgresql://localhost/team?sslmode=verify-full => Require AuthorityAndName
postgresql:///team => Disable Nothing";

#[test]
fn a_server_elsewhere_is_spoken_to_in_tls_with_its_name_checked() {
    for (name, how) in SECURED.lines().filter_map(|line| line.split_once(" => ")) {
        let found = address(name, &[("USER", "jane")]).unwrap();
        let mode = found.config.get_ssl_mode();
        assert_eq!(format!("{mode:?} {:?}", found.check), how, "{name}");
        assert_eq!(found.config.get_user(), Some("jane"));
        assert_eq!(found.config.get_dbname(), Some("team"));
    }
}

#[test]
fn what_may_be_an_address_is_no_file_and_is_not_shown() {
    for name in [
        "service=team",
        "Service=team",
        "postgres://x/y",
        "POSTGRESQL://x/y",
    ] {
        assert!(is_address(Path::new(name)), "{name}");
    }
    for name in [
        "postgres.sqlite3",
        "file:a.sqlite3",
        "file:x?mode=memory",
        "./x://y",
        "1://",
        "a b://",
    ] {
        assert!(!is_address(Path::new(name)), "{name}");
    }
    for name in [
        "postgres:u:hunter2@h/d",
        "PostgreSQL:/u:hunter2@h/d",
        "mysql://u:hunter2@h/d",
        "sqlite:///hunter2",
        "HOST=h password=hunter2",
        "password=hunter2 host=h",
    ] {
        assert!(is_address(Path::new(name)), "{name}");
        let error = address(name, &[]).unwrap_err().to_string();
        keymark_testkit::assert_says(&error, ["is not understood", "postgresql://USER@HOST"]);
        assert!(!error.contains("hunter2"), "{error}");
    }
    let found = address("POSTGRESQL://jane@DB/Team", &[]).unwrap();
    assert_eq!(found.config.get_dbname(), Some("Team"));
}

#[test]
fn places_are_named_in_order() {
    let of = |name: &str| address(name, &[]).unwrap();
    let mixed = of("postgresql://u@localhost,db.example/d");
    assert_eq!(mixed.config.get_ssl_mode(), SslMode::Require);
    let place = |name: &str, port| Endpoint::Tcp(name.to_owned(), port);
    assert_eq!(
        of("postgresql://u@db.example:1,[::1]:2/d").endpoints(),
        [place("db.example", 1), place("::1", 2)]
    );
    let socket = of("postgresql:///d?host=/run/x").endpoints();
    assert_eq!(socket, [Endpoint::Unix("/run/x/.s.PGSQL.5432".into())]);
}

#[test]
fn a_password_in_an_address_is_refused_and_not_shown() {
    for name in [
        "postgresql://jane:hunter2@db/team",
        "postgresql://db/team?password=hunter2",
    ] {
        let error = address(name, &[]).unwrap_err().to_string();
        keymark_testkit::assert_says(&error, ["~/.pgpass", "PGPASSWORD"]);
        assert!(!error.contains("hunter2"), "{error}");
    }
    for (name, why) in [
        ("postgresql://db/team?sslmode=maybe", "no sslmode 'maybe'"),
        ("service=none", "no service 'none'"),
        ("postgresql://db/team?colour=red", "colour"),
        (
            "postgresql://u@localhost/d?hostaddr=192.0.2.1",
            "does not know hostaddr",
        ),
    ] {
        let error = address(name, &[("HOME", "/nowhere"), ("PGSYSCONFDIR", "/nowhere")]);
        keymark_testkit::assert_says(&error.unwrap_err(), [why]);
    }
}

#[test]
fn services_and_passwords_are_found_where_libpq_finds_them() {
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    write(
        ".pg_service.conf",
        "# ours\n[other]\nhost=x\n\n[team]\nhost = db.example\nport=5433\ndbname=keys\nuser=jane\nsslmode=require\n",
    );
    let passwords = write(
        ".pgpass",
        "db.example:5432:*:*:wrong\ndb.example:5433:keys:jane:a\\:b\n*:*:*:*:last\n",
    );
    let place = home.path().to_str().unwrap();
    let of = |variables: &[(&str, &str)], name: &str| {
        let variables = [variables, &[("HOME", place)]].concat();
        address(name, &variables).unwrap().config
    };
    let password = |config: &Config| {
        String::from_utf8(config.get_password().unwrap_or_default().to_vec()).unwrap()
    };
    let team = of(&[], "service=team");
    assert_eq!(team.get_hosts(), [Host::Tcp("db.example".to_owned())]);
    assert_eq!(
        (team.get_ports(), team.get_dbname(), team.get_user()),
        (&[5433][..], Some("keys"), Some("jane"))
    );
    assert_eq!(password(&team), "a:b");
    assert_eq!(
        of(&[("PGSERVICE", "team")], "postgresql:///mine").get_dbname(),
        Some("mine")
    );
    assert_eq!(password(&of(&[("PGPASSWORD", "p")], "service=team")), "p");
    assert_eq!(password(&of(&[], "postgresql://elsewhere/x")), "last");
    let other = write("passwords", "*:*:*:*:third");
    assert_eq!(
        password(&of(
            &[("PGPASSFILE", other.to_str().unwrap())],
            "service=team"
        )),
        "third"
    );
    fs::set_permissions(&passwords, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(password(&of(&[], "service=team")), "", "others can read it");
}
