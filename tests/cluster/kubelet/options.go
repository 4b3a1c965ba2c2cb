package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"time"
)

// options: which part of a log is asked for, and how.
type options struct {
	times bool
	tail  int64 // lines; -1: all
	limit int64 // bytes; -1: all
	since time.Time
	// As it is written, until it has ended.
	follow   bool
	previous bool
	ended    func() bool
	flush    func() error
}

// pause: between two looks at a log that is followed.
const pause = 50 * time.Millisecond

func parse(query url.Values) (options, error) {
	want := options{tail: -1, limit: -1}
	for key, values := range query {
		value := values[len(values)-1]
		number, err := strconv.ParseInt(value, 10, 64)
		switch key {
		case "timestamps":
			want.times, err = strconv.ParseBool(value)
		case "follow":
			want.follow, err = strconv.ParseBool(value)
		case "previous":
			want.previous, err = strconv.ParseBool(value)
		case "tailLines":
			want.tail = number
		case "limitBytes":
			want.limit = number
		case "sinceSeconds":
			want.since = time.Now().Add(-time.Duration(number) * time.Second)
		case "sinceTime":
			want.since, err = time.Parse(time.RFC3339, value)
		default:
			err = fmt.Errorf("this kubelet does not know the option")
		}
		if err != nil {
			return want, fmt.Errorf("%s=%s: %w", key, value, err)
		}
	}
	return want, nil
}

// send: what is asked for of a log. The whole of it goes as it lies in the file.
func (o options) send(w io.Writer, file *os.File) error {
	if o.limit >= 0 {
		w = &limited{w, o.limit}
	}
	if o.tail >= 0 {
		if err := skip(file, o.tail); err != nil {
			return err
		}
	}
	if o.times && o.since.IsZero() && !o.follow {
		_, err := io.Copy(w, file)
		return err
	}
	return o.lines(w, file)
}

func (o options) lines(w io.Writer, file *os.File) error {
	out := bufio.NewWriterSize(w, 1<<16)
	in := bufio.NewReaderSize(file, 1<<16)
	if o.follow {
		in.Reset(&growing{file, o.ended, func() {
			_ = out.Flush()
			_ = o.flush()
		}})
	}
	for {
		line, err := in.ReadBytes('\n')
		stamp, text, _ := bytes.Cut(line, []byte(" "))
		when, bad := time.Parse(time.RFC3339Nano, string(stamp))
		if len(line) > 0 && (bad != nil || !when.Before(o.since)) {
			if o.times {
				text = line
			}
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// growing: a file whose end is where its writer has ended.
type growing struct {
	file  *os.File
	ended func() bool
	idle  func()
}

func (g *growing) Read(p []byte) (int, error) {
	for {
		last := g.ended()
		n, err := g.file.Read(p)
		if n > 0 || err != io.EOF || last {
			return n, err
		}
		g.idle()
		time.Sleep(pause)
	}
}

// skip moves to where the last lines begin: piece by piece from the end, for a log may be large.
func skip(file *os.File, lines int64) error {
	end, err := file.Seek(0, io.SeekEnd)
	if lines == 0 {
		return err
	}
	piece := make([]byte, 1<<14)
	// The newline of the last line ends it, and begins none.
	for at, found := end, int64(0); err == nil && at > 0; {
		n := min(at, int64(len(piece)))
		at -= n
		if _, err = file.ReadAt(piece[:n], at); err != nil {
			break
		}
		for i := n - 1; i >= 0; i-- {
			if piece[i] != '\n' || at+i == end-1 {
				continue
			}
			if found++; found == lines {
				_, err = file.Seek(at+i+1, io.SeekStart)
				return err
			}
		}
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return err
}

// limited drops what goes beyond a number of bytes.
type limited struct {
	w    io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(int64(len(p)), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
