// The judge of zTOCs: SOCI's own builder. Prints the digest of the zTOC of a gzip layer.
//
//	ztoc-judge LAYER.tar.gz SPAN_BYTES TOOL
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/awslabs/soci-snapshotter/ztoc"
)

func digest(layer string, span int64, tool string) (string, error) {
	made, err := ztoc.NewBuilder(tool).BuildZtoc(layer, span)
	if err != nil {
		return "", err
	}
	_, desc, err := ztoc.Marshal(made)
	if err != nil {
		return "", err
	}
	return desc.Digest.String(), nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: ztoc-judge LAYER SPAN_BYTES TOOL")
		os.Exit(2)
	}
	span, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err == nil {
		var text string
		if text, err = digest(os.Args[1], span, os.Args[3]); err == nil {
			fmt.Println(text)
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
