// Crane's library lists what is attached to an image, which its command does not: digest and artifact type of each
// referrer, from the registry's list or from the one that clients keep under a tag.
//
//	crane-referrers HOST/NAME@DIGEST
package main

import (
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func list(reference string) error {
	digest, err := name.NewDigest(reference)
	if err != nil {
		return err
	}
	index, err := remote.Referrers(digest)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		fmt.Println(entry.Digest, entry.ArtifactType)
	}
	return nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crane-referrers HOST/NAME@DIGEST")
		os.Exit(2)
	}
	if err := list(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crane-referrers:", err)
		os.Exit(1)
	}
}
