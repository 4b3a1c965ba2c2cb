package main

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// For so long the AWS provider offers a type no more after EC2 had none.
const penalty = 3 * time.Minute

// shortage: what has no capacity. As with EC2, this is known only once a launch has failed; then the type is not
// offered for a while. A test that edits the file begins anew.
type shortage struct {
	path  string
	clock clock.Clock
	mutex sync.Mutex
	text  string
	until map[string]time.Time
}

func newShortage(path string, clock clock.Clock) *shortage {
	return &shortage{path: path, clock: clock, until: map[string]time.Time{}}
}

// read: the file's words; the mutex is held.
func (s *shortage) read() []string {
	bytes, err := os.ReadFile(s.path)
	if text := string(bytes); err == nil && text != s.text {
		s.text, s.until = text, map[string]time.Time{}
	}
	return strings.Fields(s.text)
}

// launch: whether an instance of this type can be had now.
func (s *shortage) launch(kind string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !slices.Contains(s.read(), kind) {
		return true
	}
	s.until[kind] = s.clock.Now().Add(penalty)
	return false
}

// offered: whether Karpenter should still plan with this type.
func (s *shortage) offered(kind string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.read()
	return !s.clock.Now().Before(s.until[kind])
}
