package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// For so long the AWS provider offers a type no more after EC2 had none.
const penalty = 3 * time.Minute

// The label that names a pool's fleet, on its claims as well.
const fleetKey = "slipway/owner"

// shortage: what has no capacity, for each fleet a file of its own. As with EC2, this is known only once a launch has
// failed; then the type is not offered for a while. A test that edits its file begins anew.
type shortage struct {
	folder string
	clock  clock.Clock
	mutex  sync.Mutex
	fleets map[string]*lack
}

type lack struct {
	text  string
	until map[string]time.Time
}

func newShortage(folder string, clock clock.Clock) *shortage {
	return &shortage{folder: folder, clock: clock, fleets: map[string]*lack{}}
}

// of: what a fleet lacks, as its file says now; the mutex is held.
func (s *shortage) of(fleet string) *lack {
	bytes, err := os.ReadFile(filepath.Join(s.folder, filepath.Base(fleet)))
	text := string(bytes)
	if err != nil {
		text = ""
	}
	if l := s.fleets[fleet]; l != nil && l.text == text {
		return l
	}
	s.fleets[fleet] = &lack{text: text, until: map[string]time.Time{}}
	return s.fleets[fleet]
}

// launch: whether an instance of this type can be had now.
func (s *shortage) launch(fleet, kind string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	l := s.of(fleet)
	if !slices.Contains(strings.Fields(l.text), kind) {
		return true
	}
	l.until[kind] = s.clock.Now().Add(penalty)
	return false
}

// offered: whether Karpenter should still plan with this type.
func (s *shortage) offered(fleet, kind string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return !s.clock.Now().Before(s.of(fleet).until[kind])
}
