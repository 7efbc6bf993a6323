//! The JSON schema of records, `schema/record-1.json`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::Record;
use crate::case::parameters::MOST;
use crate::environment::View;
use crate::parts::Part;
use crate::processor::Throttling;
use crate::sample::Outcome;
use crate::{
    Algorithm, KeyFamily, Operation, Parameters, Provenance, StackName, StoreKind, Worker,
};

/// Implements the trait for types whose schemas do not follow from their fields.
macro_rules! schemas {
    ($($name:ident => $schema:expr),+ $(,)?) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )+};
    (words of $($name:ident),+ $(,)?) => {
        schemas! { $($name => json_schema!({ "enum": $name::WORDS })),+ }
    };
}

fn named(kind: &str) -> Schema {
    json_schema!({
        "description": format!("Name of a {kind}, as its family is registered"),
        "type": "string",
        "pattern": "^[a-z][a-z0-9-]{0,19}$",
    })
}

schemas! {
    Algorithm => {
        let names: Vec<&str> = Self::all().map(|algorithm| algorithm.name()).collect();
        json_schema!({ "enum": names })
    },
    Parameters => json_schema!({
        "description": "What the family of the stack distinguishes, in the order in which it is shown, without what is as \
                        usual",
        "type": "object",
        "maxProperties": MOST,
        "propertyNames": { "pattern": "^[a-z][a-z0-9-]{0,19}$" },
        "additionalProperties": { "type": "string", "pattern": "^(?!usual$)[a-z0-9][a-z0-9. -]{0,59}$" },
    }),
    StackName => named("stack"),
    StoreKind => named("key store"),
}

schemas! { words of KeyFamily, Operation, Outcome, Part, Provenance, Throttling, View, Worker }

/// `KEYMARK_WRITE_SCHEMA` writes the schema anew.
#[test]
fn the_schema_is_that_of_the_types() {
    let mut schema = schemars::schema_for!(Record);
    let id = "https://github.com/keymark/keymark/schema/record-1.json";
    schema.insert("$id".to_owned(), id.into());
    schema.insert("title".to_owned(), "keymark record, schema 1".into());
    let description = "One run of keymark with every sample, as 'keymark export' writes it";
    schema.insert("description".to_owned(), description.into());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/record-1.json");
    let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("KEYMARK_WRITE_SCHEMA").is_some() {
        std::fs::write(path, &made).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), made);
}
