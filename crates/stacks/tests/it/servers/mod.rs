//! The installed Apache, nginx, haproxy, OpenSSL and SoftHSM2. It takes the packages apache2, nginx, haproxy, openssl,
//! softhsm2, opensc and libengine-pkcs11-openssl.

mod balancing;
mod client;
mod files;
mod guides;
mod suite;
mod tokens;
