-- What calculates with keys in memory, other than the OpenSSL that is built in.
ALTER TABLE case_ ADD COLUMN library TEXT; -- libgcrypt; NULL: that OpenSSL, or no library of this process
