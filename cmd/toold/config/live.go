package config

import (
	"os"
	"sync"
	"time"
)

// Live is the configuration in force: it follows the file, and keeps the last good one when the file is broken.
type Live struct {
	path     string
	required bool

	mu     sync.Mutex // guards what follows
	file   File
	stamp  stamp
	broken error
}

type stamp struct {
	at   time.Time
	size int64
}

// Open loads the file at path and follows it. A broken file is an error: nothing starts half configured.
func Open(path string, required bool) (*Live, error) {
	l := &Live{path: path, required: required, stamp: stampOf(path)}
	f, err := Load(path, required)
	if err != nil {
		return nil, err
	}
	l.file = f
	return l, nil
}

// Current gives the configuration in force. The file is looked at for each use; the error says that it was changed to
// something that cannot be read, and that the configuration before still holds.
func (l *Live) Current() (File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := stampOf(l.path); now != l.stamp {
		l.stamp = now
		f, err := Load(l.path, l.required)
		if l.broken = err; err == nil {
			l.file = f
		}
	}
	return l.file, l.broken
}

func stampOf(path string) stamp {
	st, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{st.ModTime(), st.Size()}
}
