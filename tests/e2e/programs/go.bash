# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES=""

prepare() {
	local go
	# Where Go's own archive installs it, when no PATH says so.
	go=$(command -v go || command -v /usr/local/go/bin/go) || skip "go is not installed"
	cat >main.go <<-'END'
		package main

		import (
			"crypto/x509"
			"fmt"
			"net"
			"net/http"
			"io"
			"os/user"
			"time"
		)

		func main() {
			me, err := user.Current()
			fmt.Println("user", me.Username, me.HomeDir, err)
			pool, err := x509.SystemCertPool()
			fmt.Println("authorities", !pool.Equal(x509.NewCertPool()), err)
			zone, err := time.LoadLocation("Europe/Berlin")
			fmt.Println("zone", time.Unix(1782907200, 0).In(zone), err)
			listener, _ := net.Listen("tcp", "localhost:0")
			go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served") }))
			answer, err := http.Get("http://" + listener.Addr().String())
			if err != nil {
				panic(err)
			}
			text, _ := io.ReadAll(answer.Body)
			fmt.Println("http", string(text))
		}
	END
	mkdir -p "build/$arch"
	# Its compiled library is worth keeping from one run to the next.
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE=$ROOT/${BUILD:-build}/sysroot-programs/go-cache \
		"$go" build -trimpath -o "build/$arch/app" main.go
}

work() {
	run_image >facts
	cat facts
	diff facts - <<-'END'
		user app /home/app <nil>
		authorities true <nil>
		zone 2026-07-01 14:00:00 +0200 CEST <nil>
		http served
	END
}
