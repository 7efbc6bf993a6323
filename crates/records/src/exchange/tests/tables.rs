use keymark_testkit::assert_says;

use super::super::*;
use super::HEADER;

/// Reads rows whose `{}` is replaced with grade, source and note.
fn table(lines: &str) -> Result<Record, ImportError> {
    let lines = lines.replace("{}", "2017,measured,here,");
    published::parse(
        Path::new("figures.csv"),
        format!("{HEADER}{lines}").as_bytes(),
    )
}

/// Rows, each with its error.
const WRONG: &str = "\
CPU,,rsa2049,decrypt,command,1,,1,,{} => unknown algorithm 'rsa2049'; did you mean 'rsa2048'?
CPU,,rsa2048,decode,command,1,,,,{} => unknown operation
CPU,,cv25519,sign,command,1,,,,{} => cv25519 cannot sign
CPU,,rsa2048,decrypt,lighttpd,1,,,,{} => 'lighttpd'
CPU,,rsa2048,sign,command,~5,,,,{} => mean_s '~5' must be a number of seconds above 0
CPU,,rsa2048,sign,command,NaN,,,,{} => mean_s 'NaN'
CPU,,rsa2048,sign,command,-1,,,,{} => mean_s '-1'
CPU,,rsa2048,sign,command,inf,,,,{} => mean_s 'inf'
CPU,,rsa2048,sign,service,,-2,8,,{} => ops_per_s '-2'
CPU,,rsa2048,sign,service,,2,,,{} => needs its concurrency
CPU,,rsa2048,sign,service,1,,8,,{} => one operation at a time
CPU,,rsa2048,sign,service,1,2,8,,{} => not both
CPU,,rsa2048,sign,service,,,8,,{} => give mean_s or ops_per_s
CPU,,rsa2048,sign,command,1,,,0,{} => n '0' must be a number of operations
CPU,,rsa2048,sign,command,1,,,,2017,good,here, => grade 'good'
CPU,,rsa2048,sign,command,1,,,,2017,measured,, => the source is missing
,,rsa2048,sign,command,1,,,,{} => the device has no name
Luna K9,,rsa2048,sign,command,1,,,,{} => device 'Luna K9' is not in the catalogue
CPU,,rsa2048 => it has 3 fields, not 13
CPU,,rsa2048,decrypt,program: gpg,0.02,,1,,{} => is also in an earlier line";

#[test]
fn a_row_that_makes_no_sense_is_named() {
    let good = "CPU,,rsa2048,decrypt,program: gpg,0.016,,1,,{}\n";
    for (bad, reason) in WRONG.lines().filter_map(|line| line.split_once(" => ")) {
        let error = table(&format!("{good}{bad}\n")).unwrap_err().to_string();
        assert!(error.starts_with("figures.csv, line 3: "), "{bad}: {error}");
        assert_says(&error, [reason]);
    }
    assert_says(&table("").unwrap_err(), ["is empty"]);
}

#[test]
fn a_table_with_other_columns_is_refused() {
    let tokens = "device,device_class,algorithm,operation,value,unit,n\n\
                  JavaCard Athena IDProtect,smartcard,EC-256,ecdh,187.10,ms,50\n";
    let error = published::parse(Path::new("tokens.csv"), tokens.as_bytes()).unwrap_err();
    assert_says(
        &error,
        [
            "tokens.csv has the columns device, device_class, algorithm",
            "needs device, firmware, algorithm, operation",
        ],
    );
}

#[test]
fn rows_become_cases_where_keymark_measures_the_same() {
    let rows = "CPU,,rsa2048,decrypt,program: gpg,1,,,,2017,measured,here,passphrase cached\n\
                CPU,,rsa4096,decrypt,program: gpg,1,,,,2017,measured,here,PIN cached\n\
                CPU,,rsa4096,sign,\"command: x, PSS\",1,,,,{}\nCPU,,rsa4096,sign,program: Chrome,1,,,,{}\n\
                CPU,,rsa4096,sign,service,,9,many,,{}\nCPU,,rsa4096,keygen,chip,9,,,,{}\n";
    let record = table(rows).unwrap();
    let words = record.cases.iter().map(|case| case.case.way().to_string());
    let found: Vec<String> = words.collect();
    assert_eq!(found.len(), 3, "{found:?}");
    let parameter = |at: usize, name| record.cases[at].case.parameters.get(name);
    assert_eq!(parameter(0, "protection"), Some("cached"));
    assert_eq!(parameter(1, "protection"), None);
    assert_eq!(parameter(2, "scheme"), Some("pss"));
}
