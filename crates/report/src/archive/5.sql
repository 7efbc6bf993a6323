-- What calculates with keys in memory, other than the OpenSSL that is built in.
ALTER TABLE case_ ADD COLUMN library TEXT; -- libgcrypt; NULL: that OpenSSL, or no library of this process

-- What a fixed calculation of this processor took around the block, in nanoseconds: how fast the machine was.
ALTER TABLE block ADD COLUMN reference_ns INTEGER;
