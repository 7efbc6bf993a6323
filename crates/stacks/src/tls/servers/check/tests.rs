use keymark_testkit::assert_says;

use std::fs;

use super::*;
use crate::tls::servers::identity::Identity;

/// A directory with certificates and a configuration.
fn report(configuration: &str, nginx: Option<&str>) -> (Report, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    for (word, name) in [("rsa2048", "rsa.pem"), ("nistp256", "ecdsa.pem")] {
        let identity = Identity::generate(word.parse().unwrap()).unwrap();
        fs::write(
            place.path().join(name),
            identity.certificate.to_pem().unwrap(),
        )
        .unwrap();
    }
    let path = place.path().join("server.conf");
    fs::write(&path, configuration).unwrap();
    let version = nginx.map(|version| Version::read(version).unwrap());
    (file(&path, None, version.as_ref()).unwrap(), place)
}

fn findings(report: &Report) -> Vec<(u32, &Problem)> {
    let all = report.hosts.iter().flat_map(|host| &host.findings);
    all.map(|finding| (finding.at.line, &finding.problem))
        .collect()
}

/// No line of advice is too long, but for a path that is itself.
fn is_narrow(report: &Report) {
    for line in report.to_string().lines() {
        let long = line.split_whitespace().any(|word| word.len() > 60);
        assert!(line.chars().count() <= 100 || long, "{line}");
    }
}

#[test]
fn a_good_nginx_has_nothing_to_change() {
    let text = "events {}\nhttp {\n  ssl_ciphers ECDHE+AESGCM;\n  server {\n    listen 443 ssl; server_name a.example;\n    \
                ssl_certificate rsa.pem; ssl_certificate_key r.key;\n    ssl_certificate \"ecdsa.pem\"; # both\n    \
                ssl_certificate_key e.key;\n    ssl_ecdh_curve X25519:prime256v1;\n  }\n  server { listen 80; }\n}\n";
    let (report, _place) = report(text, Some("1.22.1"));
    assert_eq!((report.dialect, report.hosts.len()), (Dialect::Nginx, 1));
    assert_eq!(report.hosts[0].verdict, Verdict::Offered);
    assert_eq!(
        (report.hosts[0].name.as_str(), report.hosts[0].at.line),
        ("a.example", 4)
    );
    assert_eq!(findings(&report), []);
}

#[test]
fn nginx_with_rsa_alone_is_told_which_lines_to_add_and_to_change() {
    let text = "server {\n listen 443 ssl;\n ssl_certificate rsa.pem;\n ssl_certificate_key rsa.key;\n\
                 ssl_ciphers\n 'AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384';\n ssl_ecdh_curve secp521r1;\n}\n";
    let (report, _place) = report(text, None);
    is_narrow(&report);
    assert_eq!(report.hosts[0].verdict, Verdict::NotOffered);
    let found = findings(&report);
    let lines: Vec<u32> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [3, 5, 7], "{found:?}");
    assert!(
        matches!(found[0].1, Problem::NoEcdsaCertificate(add) if add.contains("ssl_certificate_key"))
    );
    assert!(matches!(found[1].1, Problem::NoEcdsaCipher(instead)
        if instead.starts_with("ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:")));
    assert!(matches!(found[2].1, Problem::NoCommonGroup(_)));
}

#[test]
fn what_the_string_strikes_out_is_taken_from_the_advice() {
    let of = |ciphers: &str| {
        let text = format!(
            "server {{\nlisten 443 ssl;\nssl_certificate ecdsa.pem;\nssl_certificate_key e;\nssl_ciphers {ciphers};\n}}\n"
        );
        report(&text, None)
    };
    for ciphers in [
        "HIGH:!ECDSA:!aNULL",
        "HIGH:!ECDHE",
        "aRSA:!aECDSA:!kEECDH",
        "kRSA",
    ] {
        let (report, _place) = of(ciphers);
        assert_eq!(report.hosts[0].verdict, Verdict::Tls13Only, "{ciphers}");
        let found = findings(&report);
        let instead = found.iter().find_map(|(_, problem)| {
            let Problem::NoEcdsaCipher(instead) = problem else {
                return None;
            };
            Some(instead.clone())
        });
        let instead = instead.unwrap();
        let string = instead
            .trim_start_matches("ssl_ciphers ")
            .trim_end_matches(';');
        let (changed, _place) = of(string);
        assert_eq!(changed.hosts[0].verdict, Verdict::Offered, "{string}");
    }
    let (report, _place) = of("NOT-A-CIPHER");
    assert!(findings(&report).iter().any(|(line, problem)| *line == 5
        && matches!(problem, Problem::UnknownCiphers(why) if why.contains("no cipher match"))));
}

#[test]
fn two_certificates_and_an_old_nginx_do_not_go_together() {
    let text = "server { listen 443 ssl; ssl_certificate rsa.pem; ssl_certificate_key r;\n\
                ssl_certificate ecdsa.pem; ssl_certificate_key e; }\n";
    let old = report(text, Some("1.10.3"));
    let found = findings(&old.0);
    assert!(
        matches!(found[..], [(2, Problem::TooOldForTwo(_))]),
        "{found:?}"
    );
    assert_eq!(findings(&report(text, Some("1.11.0")).0), []);
    assert_eq!(findings(&report(text, None).0), []);
}

#[test]
fn apache_is_read_with_its_sections_continuations_and_inheritance() {
    let text = "# comment\nSSLCipherSuite kRSA:\\\n!aNULL\nSSLProtocol all -SSLv3\n<IfModule mod_ssl.c>\n\
                <VirtualHost *:443>\n  ServerName b.example\n  SSLEngine on\n  SSLCertificateFile \"ecdsa.pem\"\n  \
                SSLCertificateKeyFile e.key\n  SSLOpenSSLConfCmd DHParameters \"/etc/dh.pem\"\n  \
                SSLOpenSSLConfCmd Curves brainpoolP256r1:nonsense\n</VirtualHost>\n</IfModule>\n<VirtualHost *:80>\n</VirtualHost>\n";
    let (report, _place) = report(text, None);
    is_narrow(&report);
    assert_eq!((report.dialect, report.hosts.len()), (Dialect::Apache, 1));
    assert_eq!(report.hosts[0].verdict, Verdict::Tls13Only);
    let found = findings(&report);
    let lines: Vec<u32> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [9, 2, 12, 12, 11], "{found:?}");
    assert!(matches!(found[0].1, Problem::NoRsaCertificate(_)));
    assert!(
        matches!(found[1].1, Problem::NoEcdsaCipher(instead) if instead.starts_with("SSLCipherSuite ECDHE-ECDSA"))
    );
    assert!(matches!(found[2].1, Problem::UnknownGroup(group) if group == "nonsense"));
    assert!(
        matches!(found[4].1, Problem::DhParametersIgnored(certificate) if certificate == "ecdsa.pem")
    );
}

#[test]
fn rsa_first_in_the_servers_order_is_told() {
    let text = "<VirtualHost *:443>\nSSLEngine on\nSSLCertificateFile rsa.pem\nSSLCertificateFile ecdsa.pem\n\
                SSLCertificateKeyFile r\nSSLCertificateKeyFile e\nSSLHonorCipherOrder on\n\
                SSLCipherSuite ECDHE+aRSA+AESGCM:ECDHE+ECDSA+AESGCM\n</VirtualHost>\n";
    let (given, _place) = report(text, None);
    assert_eq!(given.hosts[0].verdict, Verdict::Offered);
    let found = findings(&given);
    assert!(
        matches!(found[..], [(8, Problem::RsaFirst(_))]),
        "{found:?}"
    );
    let (clients, _place) = report(&text.replace("Order on", "Order off"), None);
    assert_eq!(findings(&clients), []);
}

#[test]
fn what_is_included_is_read_and_what_is_missing_told() {
    let place = tempfile::tempdir().unwrap();
    let identity = Identity::generate("nistp256".parse().unwrap()).unwrap();
    let pem = identity.certificate.to_pem().unwrap();
    fs::write(place.path().join("e.pem"), pem).unwrap();
    fs::create_dir(place.path().join("sites")).unwrap();
    let site = "server { listen 443 ssl;\n ssl_certificate e.pem; ssl_certificate_key k;\n ssl_certificate gone.pem;\n \
                ssl_certificate_key g; }\n";
    fs::write(place.path().join("sites/a.conf"), site).unwrap();
    fs::write(place.path().join("sites/.hidden.conf"), "}").unwrap();
    let path = place.path().join("nginx.conf");
    let text = "http { ssl_protocols TLSv1.2;\n include sites/*.conf;\n include none.conf;\n include nginx.conf; }\n";
    fs::write(&path, text).unwrap();
    let report = file(&path, None, None).unwrap();
    // The file includes itself: as deep as is looked.
    let host = &report.hosts[0];
    assert!(host.at.file.ends_with("sites/a.conf"), "{}", host.at);
    assert_eq!(host.verdict, Verdict::Offered);
    assert!(
        matches!(&host.findings[..], [Finding { at, problem: Problem::UnreadCertificate { file, .. } }]
        if at.line == 3 && file == "gone.pem"),
        "{host:?}"
    );
    let missing = |name: &str| {
        let mut all = report.findings.iter();
        all.any(|finding| matches!(&finding.problem, Problem::NotIncluded(file) if file.ends_with(name)))
    };
    assert!(missing("none.conf") && missing("nginx.conf"));
}

#[test]
fn patterns_are_shells() {
    let place = tempfile::tempdir().unwrap();
    for name in ["a.conf", "b.conf", ".hidden.conf", "c.con"] {
        fs::write(place.path().join(name), "").unwrap();
    }
    let names = |pattern: &str| -> Vec<String> {
        let found = files::matching(place.path(), pattern).into_iter();
        found
            .map(|path| {
                path.strip_prefix(place.path())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect()
    };
    assert_eq!(names("*.conf"), ["a.conf", "b.conf"]);
    assert_eq!(names("?.c*"), ["a.conf", "b.conf", "c.con"]);
    assert_eq!(names("gone.conf"), ["gone.conf"]);
    assert_eq!(names("[b]*"), ["b.conf"]);
    assert_eq!(names("x*"), Vec::<String>::new());
}

#[test]
fn what_is_no_configuration_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("x");
    assert!(
        file(&path, None, None)
            .unwrap_err()
            .to_string()
            .contains("No such file")
    );
    assert!(
        file(place.path(), None, None)
            .unwrap_err()
            .to_string()
            .contains("not a file")
    );
    fs::write(&path, "hello").unwrap();
    assert!(
        file(&path, None, None)
            .unwrap_err()
            .to_string()
            .contains("not a configuration of Apache or nginx")
    );
    for broken in [
        "server {",
        "server { listen 443 ssl }",
        "server { } }",
        "server { listen 443 ssl; ",
    ] {
        fs::write(&path, broken).unwrap();
        let error = file(&path, Some(Dialect::Nginx), None)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("nginx -t") && error.contains("x:1"),
            "{broken}: {error}"
        );
    }
    fs::write(&path, "\u{1b}[2J\0\\\n\\").unwrap();
    let report = file(&path, Some(Dialect::Apache), None).unwrap();
    assert_eq!(report.to_string(), "no host with TLS is configured here\n");
}

#[test]
fn files_that_are_made_to_take_for_ever_do_not() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("nginx.conf");
    fs::write(&path, "a {".repeat(100_000)).unwrap();
    let error = file(&path, Some(Dialect::Nginx), None).unwrap_err();
    assert_says(&error, ["too deep"]);
    fs::write(&path, "include nginx.conf;\n".repeat(20)).unwrap();
    let report = file(&path, Some(Dialect::Nginx), None).unwrap();
    assert_eq!(report.findings.len(), 20);
    fs::write(&path, "Include nginx.conf\n".repeat(20)).unwrap();
    let report = file(&path, Some(Dialect::Apache), None).unwrap();
    assert_eq!(report.findings.len(), 20);
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "([a-z_ ]|[;{}#'\"$<>\\\\\n/]|ssl_certificate |listen 1 ssl;|<VirtualHost x>|SSLEngine on\n){0,60}") {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        fs::write(&path, &text).unwrap();
        for dialect in [Dialect::Apache, Dialect::Nginx] {
            if let Ok(report) = file(&path, Some(dialect), None) {
                proptest::prop_assert!(!report.to_string().contains('\0'));
            }
        }
    }
}

#[test]
fn ciphers_by_the_system_s_policy_are_not_judged() {
    let apache = |certificates: &str| {
        format!(
            "Listen 443\n<VirtualHost *:443>\nSSLEngine on\n{certificates}SSLCipherSuite PROFILE=SYSTEM\n</VirtualHost>\n"
        )
    };
    let nginx = |certificates: &str| {
        format!("server {{\n listen 443 ssl;\n{certificates}ssl_ciphers PROFILE=SYSTEM;\n}}\n")
    };
    let both = [
        apache("SSLCertificateFile ecdsa.pem\nSSLCertificateKeyFile e.key\n"),
        nginx("ssl_certificate ecdsa.pem;\nssl_certificate_key e.key;\n"),
    ];
    for text in both {
        let (report, _place) = report(&text, None);
        assert_eq!(report.hosts[0].verdict, Verdict::Unknown, "{text}");
        let found = findings(&report);
        assert!(
            found
                .iter()
                .any(|(_, problem)| **problem == Problem::SystemPolicy)
        );
        assert!(
            !found
                .iter()
                .any(|(_, problem)| matches!(problem, Problem::UnknownCiphers(_)))
        );
    }
    let (report, _place) = report(
        &nginx("ssl_certificate rsa.pem;\nssl_certificate_key r.key;\n"),
        None,
    );
    assert_eq!(
        report.hosts[0].verdict,
        Verdict::NotOffered,
        "it has RSA alone"
    );
}
