package ignore

import "testing"

// FuzzIndex feeds index files that git did not write: none may panic or take much.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"+string(make([]byte, 62))+"a\x00"+string(make([]byte, 20))), "a")
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"+string(make([]byte, 62))+"\x00a\x00"+string(make([]byte, 20))), "a/b")
	f.Fuzz(func(t *testing.T, data []byte, p string) {
		for _, long := range []bool{false, true} {
			x := parseIndex(data, long)
			x.has(p, true)
			x.sub(p)
			x.difference(nil)
		}
	})
}
