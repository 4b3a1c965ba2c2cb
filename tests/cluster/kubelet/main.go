// The kubelets' side of `kubectl logs`, for every node of a test's plane: KWOK runs its pods without a word, and what
// they have said a test writes into a file, FOLDER/NAMESPACE/POD, each line behind its time (RFC 3339, in UTC). A pod
// without a file has said nothing; the log of one whose file is a folder cannot be read. What is followed ends when there
// is a file POD.ended; what a container said before it was started again is in POD.previous.
//
// usage: kubelet ADDRESS FOLDER CERTIFICATE KEY
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// logs answers as a kubelet's containerLogs does (k8s.io/kubelet, the query is that of PodLogOptions).
func logs(folder string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		want, err := parse(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name := filepath.Join(folder, filepath.Base(r.PathValue("namespace")), filepath.Base(r.PathValue("pod")))
		want.ended = func() bool { return r.Context().Err() != nil || exists(name+".ended") }
		want.flush = http.NewResponseController(w).Flush
		want.follow = want.follow && !want.previous
		for want.follow && !exists(name) && !want.ended() {
			time.Sleep(pause)
		}
		if want.previous {
			name += ".previous"
		}
		file, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && want.previous {
			http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", r.PathValue("container"),
				r.PathValue("pod")), http.StatusBadRequest)
			return
		}
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer file.Close()
		if info, err := file.Stat(); err != nil || info.IsDir() {
			http.Error(w, "the log of "+filepath.Base(name)+" cannot be read", http.StatusInternalServerError)
			return
		}
		if err := want.send(w, file); err != nil {
			log.Printf("%s: %v", name, err)
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: kubelet ADDRESS FOLDER CERTIFICATE KEY")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", logs(os.Args[2]))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	log.Fatal(http.ListenAndServeTLS(os.Args[1], os.Args[3], os.Args[4], mux))
}
