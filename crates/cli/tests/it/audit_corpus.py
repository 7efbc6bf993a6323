"""Two hundred files as other programs make them, with what is in them: audit_corpus.py DIRECTORY

Writes the files into DIRECTORY/files, and to stdout a line of JSON for each: its name, the algorithms of its public keys
or which of keymark's lists has it ('not_read', 'without_key', 'named' for either), whether it is damaged, and the keys
that ssh-keygen, openssl and gpg read out of it.
"""

import base64
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dh, dsa, ec, ed25519, ed448, rsa, x25519
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, NoEncryption, pkcs7, pkcs12
from cryptography.hazmat.primitives.serialization import Encoding, PrivateFormat, PublicFormat

ROOT = pathlib.Path(sys.argv[1]).resolve()
WORK, FILES = ROOT / "work", ROOT / "files"
ENVIRONMENT = {**os.environ, "GNUPGHOME": str(WORK / "gnupg"), "HOME": str(WORK), "LC_ALL": "C.UTF-8"}
NOT_READ, WITHOUT_KEY, NAMED = "not_read", "without_key", "named"
expected = {}


def put(name, content, holds, damaged=False):
    assert name not in expected, name
    (FILES / name).write_bytes(content)
    expected[name] = (holds if isinstance(holds, str) else sorted(holds), damaged)


def shell(script):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=WORK, env=ENVIRONMENT, capture_output=True)
    if done.returncode:
        sys.exit(f"{script}\n{done.stderr.decode(errors='replace')}")


def take(prefix, holds):
    """Puts what a shell script has written, by its name there."""
    for name, keys in holds.items():
        put(f"{prefix}-{name}", (WORK / name).read_bytes(), keys)


def of_openssl():
    kinds = {
        "rsa1024": "RSA -pkeyopt rsa_keygen_bits:1024",
        "nistp192": "EC -pkeyopt ec_paramgen_curve:P-192",
        "nistp224": "EC -pkeyopt ec_paramgen_curve:P-224",
        "nistp256": "EC -pkeyopt ec_paramgen_curve:P-256",
        "nistp384": "EC -pkeyopt ec_paramgen_curve:P-384",
        "nistp521": "EC -pkeyopt ec_paramgen_curve:P-521",
        "secp256k1": "EC -pkeyopt ec_paramgen_curve:secp256k1",
        "brainpoolp256r1": "EC -pkeyopt ec_paramgen_curve:brainpoolP256r1",
        "ed25519": "ED25519",
        "ed448": "ED448",
        "cv25519": "X25519",
        "cv448": "X448",
    }
    for kind, arguments in kinds.items():
        shell(f"""openssl genpkey -algorithm {arguments} -out {kind}
            openssl pkey -in {kind} -outform DER -out {kind}.p8
            openssl pkey -in {kind} -pubout -out {kind}.spki
            openssl pkey -in {kind} -pubout -outform DER -out {kind}.spki.der
            openssl pkey -in {kind} -aes128 -passout pass:secret -out {kind}.encrypted""")
        take("openssl", {f"{kind}{end}": [kind] for end in ("", ".p8", ".spki", ".spki.der")})
        take("openssl", {f"{kind}.encrypted": NOT_READ})
    shell("""openssl rsa -in rsa1024 -traditional -out trad.pem
        openssl rsa -in rsa1024 -traditional -outform DER -out trad.der
        openssl rsa -in rsa1024 -traditional -aes128 -passout pass:secret -out trad.encrypted
        openssl rsa -in rsa1024 -RSAPublicKey_out -out pkcs1.pem
        openssl rsa -in rsa1024 -RSAPublicKey_out -outform DER -out pkcs1.der
        for e in PEM DER; do openssl ec -in nistp256 -outform $e -out sec1.$e; done
        openssl ec -in nistp256 -no_public -out sec1-private.pem
        openssl ec -in nistp256 -param_enc explicit -pubout -out explicit.pem
        openssl ec -in nistp256 -conv_form compressed -pubout -out compressed.pem
        openssl dsaparam -out dsaparam.pem 1024; openssl dsaparam -in dsaparam.pem -outform DER -out dsaparam.der
        openssl gendsa -out dsa.pem dsaparam.pem
        openssl pkey -in dsa.pem -traditional -outform DER -out dsa.der
        openssl pkey -in dsa.pem -pubout -out dsa.spki
        openssl genpkey -genparam -algorithm DH -pkeyopt group:ffdhe2048 -out dhparam.pem
        openssl asn1parse -in dhparam.pem -noout -out dhparam.der
        openssl genpkey -paramfile dhparam.pem -out dh.pem; openssl pkey -in dh.pem -pubout -out dh.spki
        openssl ecparam -name prime256v1 -out ecparam.pem
        openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024 -out pss.pem
        for k in rsa1024 nistp384 ed25519 pss.pem; do
            openssl req -x509 -new -key $k -out $k.crt -days 9 -subj /CN=$k 2>&1
            openssl req -new -key $k -out $k.csr -subj /CN=$k 2>&1
            openssl x509 -in $k.crt -outform DER -out $k.crt.der
            openssl req -in $k.csr -outform DER -out $k.csr.der
        done
        openssl req -x509 -new -key rsa1024 -sigopt rsa_padding_mode:pss -out psssigned.crt -subj /CN=pss
        openssl req -x509 -new -key rsa1024 -out odd.crt -subj /CN=odd -set_serial -7 \
            -addext 2.25.329800735698586629295641978511506172918=ASN1:UTF8:room
        openssl x509 -in rsa1024.crt -trustout -addtrust serverAuth -out trusted.crt
        openssl x509 -in rsa1024.crt -text -out text.crt
        cat rsa1024.crt nistp384.crt ed25519.crt > bundle.pem; cat nistp384 nistp384.crt > both.pem
        touch index; printf '[ca]\ndefault_ca=d\n[d]\ndatabase=index\ndefault_md=sha256\n' > ca.cnf
        openssl ca -gencrl -config ca.cnf -cert rsa1024.crt -keyfile rsa1024 -crldays 9 -out crl.pem
        openssl crl -in crl.pem -outform DER -out crl.der
        for e in PEM DER; do openssl crl2pkcs7 -nocrl -certfile bundle.pem -outform $e -out p7.$e; done
        openssl pkcs12 -export -in both.pem -passout pass:secret -out both.p12
        openssl ts -query -data both.pem -sha256 -out query.tsq
        echo text > t; openssl cms -sign -in t -signer rsa1024.crt -inkey rsa1024 -outform DER -out cms.der
        openssl dgst -sha256 -sign rsa1024 -out raw.sig t
        openssl asn1parse -genstr UTF8:nothing -noout -out string.der""")
    holds = {
        "rsa1024": "trad.pem trad.der pkcs1.pem pkcs1.der pss.pem rsa1024.crt rsa1024.crt.der rsa1024.csr rsa1024.csr.der"
        " pss.pem.crt pss.pem.crt.der pss.pem.csr pss.pem.csr.der psssigned.crt odd.crt trusted.crt text.crt",
        "nistp256": "sec1.PEM sec1.DER compressed.pem sec1-private.pem",
        "nistp384": "nistp384.crt nistp384.crt.der nistp384.csr nistp384.csr.der both.pem",
        "ed25519": "ed25519.crt ed25519.crt.der ed25519.csr ed25519.csr.der",
        "dsa1024": "dsa.pem dsa.der dsa.spki",
        "dh2048": "dh.pem dh.spki",
        "a curve of 256 bits by its parameters": "explicit.pem",
    }
    for key, names in holds.items():
        take("openssl", {name: [key] for name in names.split()})
    take("openssl", {name: ["rsa1024", "nistp384", "ed25519"] for name in ("bundle.pem", "p7.PEM", "p7.DER")})
    take("openssl", {"cms.der": ["rsa1024"]})
    for name in "raw.sig string.der".split():
        take("openssl", {name: NAMED})
    for name in "dsaparam.pem dsaparam.der dhparam.pem dhparam.der ecparam.pem crl.pem crl.der query.tsq".split():
        take("openssl", {name: WITHOUT_KEY})
    take("openssl", {name: NOT_READ for name in ("trad.encrypted", "both.p12")})


def of_openssh():
    kinds = {"rsa1024": "rsa -b 1024", "nistp256": "ecdsa -b 256", "nistp384": "ecdsa -b 384", "nistp521": "ecdsa -b 521",
             "ed25519": "ed25519", "dsa1024": "dsa"}
    for kind, arguments in kinds.items():
        shell(f"""ssh-keygen -q -t {arguments} -N '' -C 'me at host' -f s{kind}
            ssh-keygen -q -t {arguments} -N secret -C me -f e{kind}
            ssh-keygen -e -f s{kind}.pub > s{kind}.rfc4716""")
        take("ssh", {f"s{kind}{end}": [kind] for end in ("", ".pub", ".rfc4716")} | {f"e{kind}": [kind]})
    shell("""for f in PEM PKCS8; do
            ssh-keygen -q -t rsa -b 1024 -m $f -N '' -f $f; ssh-keygen -q -t rsa -b 1024 -m $f -N secret -f enc$f
            ssh-keygen -e -m $f -f srsa1024.pub > pub$f
        done
        sign() { cp s$1.pub $2.pub; ssh-keygen -q -s snistp256 -I id "${@:3}" $2.pub; }
        sign rsa1024 forever -n user; sign ed25519 ends -n user -V +1d; sign nistp384 host -h -n host
        sed 's/^/host.example.org /; s/ me at host$//' srsa1024.pub sed25519.pub > known_hosts
        cp known_hosts hashed; ssh-keygen -q -H -f hashed 2>&1
        sed 's/^/@cert-authority *.example.org /' snistp256.pub > authority
        sed 's/^/me@example.org namespaces="git" /' sed25519.pub > allowed_signers
        { printf '# mine\n\n'; sed 's/^/from="10.0.0.1",command="echo \\"ssh-rsa AAAA\\"" /' srsa1024.pub
          printf '\\t'; cat snistp521.pub; } > authorized_keys
        ssh-keygen -q -k -f krl srsa1024.pub; ssh-keygen -q -Y sign -n file -f sed25519 authority
        printf 'Host *\n  IdentityFile ~/.ssh/id\n' > config""")
    names = {"PEM": "rsa1024", "PKCS8": "rsa1024", "pubPEM": "rsa1024", "pubPKCS8": "rsa1024", "authority": "nistp256",
             "forever-cert.pub": "rsa1024", "ends-cert.pub": "ed25519", "host-cert.pub": "nistp384",
             "allowed_signers": "ed25519"}
    take("ssh", {name: [key] for name, key in names.items()})
    take("ssh", {name: ["rsa1024", "ed25519"] for name in ("known_hosts", "hashed")})
    take("ssh", {"authorized_keys": ["rsa1024", "nistp521"], "encPEM": NOT_READ, "encPKCS8": NOT_READ})
    take("ssh", {"krl": NAMED, "authority.sig": NAMED, "config": WITHOUT_KEY})
    field = lambda content: struct.pack(">I", len(content)) + content
    blob = base64.b64decode((WORK / "srsa1024.pub").read_text().split()[1])
    ssh = lambda blob: b"ssh-rsa " + base64.b64encode(blob) + b" made\n"
    head = field(b"ssh-rsa") + field(b"\1\0\1")
    put("ssh-padded.pub", ssh(head + field(b"\0" + blob[-129:])), ["rsa1024"])
    put("ssh-without-sign.pub", ssh(head + field(blob[-128:])), NOT_READ)
    key = field(base64.b64decode((WORK / "sed25519.pub").read_text().split()[1])[-32:])
    hardware = field(b"sk-ssh-ed25519@openssh.com") + key + field(b"ssh:")
    put("ssh-sk.pub", b"sk-ssh-ed25519@openssh.com " + base64.b64encode(hardware) + b"\n", ["ed25519"])


def of_gnupg():
    keys = {"rsa1024": ("rsa1024", []), "nistp384": ("nistp384", []), "brainpool": ("brainpoolP256r1", []),
            "dsa": ("dsa1024", []), "secp": ("secp256k1", []), "ed": ("ed25519", ["cv25519"]), "elg": ("dsa1024", ["elg1024"])}
    shell("mkdir -m 700 gnupg; echo pinentry-mode loopback > gnupg/gpg.conf")
    for name, (main, subkeys) in keys.items():
        shell(f"""new() {{ gpg --batch -q --passphrase '' "$@"; }}
            new --quick-gen-key 'Me {name} <{name}@example.org>' {main} default never
            fpr=$(gpg -k --with-colons {name}@example.org | sed -n 's/^fpr:*\\([0-9A-F]*\\):$/\\1/p' | head -1); echo $fpr! > {name}.fpr
            for s in {' '.join(subkeys)}; do new --quick-add-key $fpr $s encr never; done
            x() {{ gpg --batch -q "$@" {name}@example.org; }}
            x --export > {name}.gpg; x --export --armor > {name}.asc; x --export-secret-keys --armor > {name}.sec.asc
            new --export-secret-keys {name}@example.org > {name}.sec.gpg""")
        holds = sorted({main.lower(), *subkeys})
        take("gpg", {f"{name}{end}": holds for end in (".gpg", ".asc", ".sec.asc", ".sec.gpg")})
    everything = sorted({key.lower() for main, subkeys in keys.values() for key in [main, *subkeys]})
    shell("""cp gnupg/pubring.kbx ring.kbx; gpg --batch -q --export > ring.gpg
        echo text > t; for o in detach-sign clear-sign sign; do gpg --batch -q -u ed@example.org -o $o.sig --$o t; done
        gpg --batch -q --trust-model always -r ed@example.org -o message.gpg --encrypt t
        gpg --export-ownertrust > ownertrust.txt; for r in gnupg/openpgp-revocs.d/*.rev; do cp $r one.rev; done
        cp gnupg/trustdb.gpg .; cat elg.asc ed.asc > two.asc; gpg --batch -q --export-ssh-key $(cat ed.fpr) > ed.pub""")
    take("gpg", {"ring.kbx": everything, "ring.gpg": everything, "two.asc": ["dsa1024", "elg1024", "ed25519", "cv25519"],
                 "ed.pub": ["ed25519"]})
    take("gpg", {f"{name}.sig": WITHOUT_KEY for name in ("detach-sign", "clear-sign")})
    take("gpg", {name: NAMED for name in ("sign.sig", "message.gpg", "one.rev", "trustdb.gpg")} | {"ownertrust.txt": WITHOUT_KEY})


def of_java_and_nss():
    shell("""tool() { keytool "$@" -storepass secret1 -noprompt 2>&1; }
        make() { tool -genkeypair -alias a -dname CN=java -keypass secret1 "$@"; }
        make -keystore ec.p12 -keyalg EC -groupname secp384r1 & make -keystore rsa.jks -storetype JKS -keyalg RSA -keysize 1024 & wait
        tool -exportcert -alias a -keystore ec.p12 -file java.cer & tool -exportcert -rfc -alias a -keystore ec.p12 -file java.pem &
        tool -certreq -alias a -keystore rsa.jks -file java.csr & tool -gencrl -alias a -keystore ec.p12 -file java.crl & wait""")
    take("java", {"java.cer": ["nistp384"], "java.pem": ["nistp384"], "java.csr": ["rsa1024"], "java.crl": WITHOUT_KEY,
                  "ec.p12": NOT_READ, "rsa.jks": NOT_READ})
    shell("""mkdir nss; head -c 100 /dev/urandom > noise; c() { certutil -d sql:nss -z noise "$@"; }
        c -N --empty-password; c -S -x -n a -s CN=nss -t u,u,u -k ec -q nistp256 -v 9 -Z SHA256 2>&1
        c -L -n a -a > nss.pem; c -L -n a -r > nss.der; c -R -s CN=request -k rsa -g 1024 -a -o nss.req; c -R -s CN=r2 -k rsa -g 1024 -o nssreq.der
        pk12util -d sql:nss -n a -W secret -o nss.p12; crlutil -d sql:nss -G -n a -c /dev/null 2>/dev/null || true
        cp nss/cert9.db nss/key4.db nss/pkcs11.txt .""")
    take("nss", {"nss.pem": ["nistp256"], "nss.der": ["nistp256"], "nss.req": ["rsa1024"], "nssreq.der": ["rsa1024"],
                 "nss.p12": NOT_READ, "cert9.db": NAMED, "key4.db": NAMED, "pkcs11.txt": WITHOUT_KEY})


def of_python():
    keys = {"rsa1024": rsa.generate_private_key(3, 1024), "nistp521": ec.generate_private_key(ec.SECP521R1()),
            "brainpoolp384r1": ec.generate_private_key(ec.BrainpoolP384R1()), "dsa1024": dsa.generate_private_key(1024),
            "ed25519": ed25519.Ed25519PrivateKey.generate(), "ed448": ed448.Ed448PrivateKey.generate()}
    secret, plain = BestAvailableEncryption(b"secret"), NoEncryption()
    for kind, key in keys.items():
        put(f"python-{kind}.pem", key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, plain), [kind])
        put(f"python-{kind}.spki", key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo), [kind])
        if kind in ("rsa1024", "nistp521", "ed25519"):
            put(f"python-{kind}.ssh", key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, plain), [kind])
        put(f"python-{kind}.p8.encrypted", key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, secret), NOT_READ)
    name = x509.Name.from_rfc4514_string("CN=M\u00fcller,O=\u6771\u4eac")
    key, day = keys["nistp521"], datetime.datetime(2020, 1, 1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), day, day.replace(year=9999))
    certificate = builder.sign(key, hashes.SHA512())
    put("python-9999.crt", certificate.public_bytes(Encoding.DER), ["nistp521"])
    p12 = pkcs12.serialize_key_and_certificates(b"n", key, certificate, None, plain)
    put("python-open.p12", p12, ["nistp521"])
    put("python.p7b", pkcs7.serialize_certificates([certificate], Encoding.DER), ["nistp521"])
    crl = x509.CertificateRevocationListBuilder(name, day, day.replace(year=2021)).sign(key, hashes.SHA256())
    put("python.crl", crl.public_bytes(Encoding.DER), WITHOUT_KEY)
    request = x509.CertificateSigningRequestBuilder(name).sign(keys["ed448"], None)
    put("python.csr", request.public_bytes(Encoding.DER), ["ed448"])
    raw = x25519.X25519PrivateKey.generate().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    put("python-raw.key", bytes([raw[0] | 0x80]) + raw[1:], NAMED)
    p = int.from_bytes(os.urandom(64), "big") | 1 << 511 | 1
    numbers = dh.DHPublicNumbers(4, dh.DHParameterNumbers(p, 2, (p - 1) // 2)).public_key()
    put("python-dhx.spki", numbers.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo), ["dh512"])


TEXTS = {
    "crt": ("openssl-rsa1024.crt", ["rsa1024"]),
    "spki": ("openssl-nistp384.spki", ["nistp384"]),
    "pub": ("ssh-snistp256.pub", ["nistp256"]),
    "rfc4716": ("ssh-sed25519.rfc4716", ["ed25519"]),
    "asc": ("gpg-rsa1024.asc", ["rsa1024"]),
}


def of_encodings():
    ways = {
        "bom": lambda text: b"\xef\xbb\xbf" + text,
        "crlf": lambda text: text.replace(b"\n", b"\r\n"),
        "latin1": lambda text: b"# M\xfcller\n" + text,
        "text": lambda text: b"0 = who; Issuer: CN=x\n\n" + text + b"\nthe end\n",
        "open-end": lambda text: text.rstrip(b"\n"),
    }
    for form, (name, holds) in TEXTS.items():
        text = (FILES / name).read_bytes()
        for way, change in ways.items():
            put(f"text-{way}.{form}", change(text), holds)
        put(f"text-utf16.{form}", text.decode().encode("utf-16"), NAMED)
    blocks = [(FILES / TEXTS[form][0]).read_bytes() for form in ("asc", "spki", "crt", "pub")]
    put("text-mixed.pem", b"\n".join(blocks), ["nistp256", "nistp384", "rsa1024"])
    put("text-comment.pub", blocks[3].replace(b"me at host", b"M\xfcller"), ["nistp256"])


BINARIES = {
    "crt.der": ("openssl-rsa1024.crt.der", ["rsa1024"]),
    "p8": ("openssl-nistp256.p8", ["nistp256"]),
    "gpg": ("gpg-ed.gpg", ["cv25519", "ed25519"]),
    "kbx": ("gpg-ring.kbx", []),
}


def of_damage():
    for form, (name, holds) in TEXTS.items():
        text = (FILES / name).read_bytes()
        middle = len(text) // 2
        put(f"damaged-cut.{form}", text[:middle], holds, True)
        put(f"damaged-base64.{form}", text[:middle] + b"!" + text[middle + 1:], holds, True)
        put(f"damaged-flipped.{form}", text[:middle] + (b"A" if text[middle] != 65 else b"B") + text[middle + 1:], holds, True)
        put(f"damaged-behind.{form}", (FILES / "openssl-ed25519.spki").read_bytes() + text[:middle], [*holds, "ed25519"], True)
    for form, (name, holds) in BINARIES.items():
        octets = (FILES / name).read_bytes()
        holds = holds or expected[name][0]
        middle = len(octets) // 2
        put(f"damaged-cut.{form}", octets[:middle], holds, True)
        put(f"damaged-flipped.{form}", octets[:middle] + bytes([octets[middle] ^ 1]) + octets[middle + 1:], holds, True)
        put(f"damaged-zeros.{form}", octets[:8] + bytes(len(octets) - 8), [*holds, "an unknown curve"], True)
        put(f"damaged-behind.{form}", octets + octets[:20], holds, True)
    put("damaged-empty.pem", b"", WITHOUT_KEY)
    put("damaged-head.pem", b"-----BEGIN CERTIFICATE-----\n", NOT_READ)
    put("damaged-noise.bin", bytes([0xfe]) + os.urandom(99), NAMED)
    put("damaged-html.crt", b"<html><body>404 Not Found</body></html>\n", NAMED)


CURVES = {"prime256v1": "nistp256", "secp384r1": "nistp384", "secp521r1": "nistp521", "secp224r1": "nistp224",
          "prime192v1": "nistp192"}


def by_openssl(text):
    """The algorithm of the key that openssl shows."""
    bits = re.search(r"\((\d+) bit", text)
    curve = re.search(r"ASN1 OID: (\S+)", text)
    plain = re.search(r"\b(?:ED|X)(?:25519|448)\b", text.replace("ED25519:", "").replace("ED448:", ""))
    if curve:
        return CURVES.get(curve[1], curve[1].lower())
    # DH parameters are two numbers, as an RSA key is; an exponent is odd.
    if "Exponent: 2 " in text:
        return None
    if bits and "Modulus:" in text:
        return "rsa" + bits[1]
    if bits and "Field Type:" in text:
        return f"a curve of {bits[1]} bits by its parameters"
    if bits and re.search(r"DH P\w+-Key", text):
        return "dh" + bits[1]
    if bits and "pub:" in text and re.search(r"^ *Q:", text, re.M):
        return "dsa" + bits[1]
    return plain and plain[0].lower().replace("x", "cv")


def by_ssh(bits, kind):
    kind = kind.removesuffix("-CERT").removesuffix("-SK").lower()
    return {"ecdsa": f"nistp{bits}", "ed25519": "ed25519"}.get(kind, kind + bits)


def by_gpg(line):
    field = line.split(":")
    return {"1": "rsa", "16": "elg", "17": "dsa"}[field[3]] + field[2] if field[3] in ("1", "16", "17") else field[16].lower()


def tools(name):
    """The algorithms of the keys that each tool reads."""
    def out(*command):
        done = subprocess.run([*command, str(FILES / name)], env=ENVIRONMENT, capture_output=True, stdin=subprocess.DEVNULL)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    read = {}
    for command in ("pkey -passin pass: -text_pub", "pkey -pubin -text_pub", "x509 -text", "req -text"):
        read["openssl " + command] = [by_openssl(out("openssl", *command.split(), "-noout", "-in"))]
    read["ssh-keygen"] = [by_ssh(*key) for key in re.findall(r"^(\d+) SHA256:.*\((\S+)\)$", out("ssh-keygen", "-l", "-f"), re.M)]
    gpg = out("gpg", "--batch", "--with-colons", "--show-keys")
    read["gpg"] = [by_gpg(line) for line in gpg.splitlines() if line.split(":")[0] in ("pub", "sub", "sec", "ssb")]
    return {tool: keys for tool, keys in read.items() if any(keys)}


for directory in (WORK, FILES):
    directory.mkdir()
for make in (of_openssl, of_openssh, of_gnupg, of_java_and_nss, of_python, of_encodings, of_damage):
    make()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for (name, (holds, damaged)), read in zip(expected.items(), pool.map(tools, expected)):
        print(json.dumps({"file": name, "holds": holds, "damaged": damaged, "read": read}))
subprocess.run(["gpgconf", "--kill", "all"], env=ENVIRONMENT)
