// The RFC 3161 service of sigstore's timestamp-authority, with a key in a file, on loopback alone: its own program opens
// port 2112 on every interface for metrics besides, so that no two could run.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"time"

	"github.com/sigstore/timestamp-authority/v2/pkg/server"
	"github.com/spf13/viper"

	authority "github.com/sigstore/timestamp-authority/v2/pkg/log"
)

const module = "github.com/sigstore/timestamp-authority/v2"

func main() {
	version := flag.Bool("version", false, "print the module's version")
	port := flag.Int("port", 3000, "port on 127.0.0.1")
	key := flag.String("key", "", "private key in PEM")
	chain := flag.String("chain", "", "certificates in PEM, the key's own first")
	flag.Parse()
	if *version {
		build, _ := debug.ReadBuildInfo()
		for _, dependency := range build.Deps {
			if dependency.Path == module {
				fmt.Println("timestamp-authority", dependency.Version)
			}
		}
		os.Exit(0)
	}
	for name, value := range map[string]any{
		"timestamp-signer":         "file",
		"timestamp-signer-hash":    "sha256",
		"file-signer-key-path":     *key,
		"certificate-chain-path":   *chain,
		"default-policy-oid":       "1.3.6.1.4.1.57264.2",
		"accepted-policy-oids":     []string{"1.3.6.1.4.1.57264.2"},
		"max-request-body-size":    1 << 20,
		"enforce-intermediate-eku": true,
		"disable-ntp-monitoring":   true,
	} {
		viper.Set(name, value)
	}
	authority.ConfigureLogger("prod")
	rest := server.NewRestAPIServer("127.0.0.1", *port, []string{"http"}, false, 30*time.Second, 30*time.Second)
	defer rest.Shutdown()
	if err := rest.Serve(); err != nil {
		log.Fatal(err)
	}
}
